using System.Diagnostics;

namespace FastPort.Tags.Serving;

/// <summary>
/// Writes tags of one device of a source. Writes of a tag and of its parts keep their order, and each waits for the answer to the previous
/// one; those of other tags continue in the meantime. Nothing is written twice.
/// </summary>
internal sealed class SourceWriter(ServedSource source, TagServerOptions options)
{
    // Number of items that are checked under the source's gate at a time: reads take it on their loops.
    private const int ItemsAtATime = 1000;

    // Under the source's gate: items whose tag is free, in order.
    private readonly Queue<WriteItem> _ready = new();
    private int _underWay;

    /// <summary>Takes an item. Under the source's gate; then <see cref="Send"/> without it.</summary>
    public void Add(in WriteItem item)
    {
        if (item.Tag.Writes.IsUnderWay)
        {
            (item.Tag.Writes.Waiting ??= new Queue<WriteItem>()).Enqueue(item);
            return;
        }

        item.Tag.Writes.IsUnderWay = true;
        _ready.Enqueue(item);
    }

    /// <summary>Sends the writes that can start, unless enough calls are in progress; their end then sends them.</summary>
    public void Send()
    {
        if (Begin() is { } items)
        {
            _ = NoContext.Start(() => WriteAsync(items));
        }
    }

    private List<WriteItem>? Begin()
    {
        List<WriteItem>? items = null;
        for (bool isFirst = true; ; isFirst = false)
        {
            lock (source.Gate)
            {
                if (isFirst && (_ready.Count == 0 || _underWay >= options.MaxConcurrentWrites))
                {
                    return null;
                }

                _underWay += isFirst ? 1 : 0;
                for (int i = 0; i < ItemsAtATime && _ready.TryDequeue(out WriteItem item); i++)
                {
                    if (item.Request.IsGivenUp)
                    {
                        Release(item.Tag.Writes);
                        item.Request.End(item.Row, TagStatus.BadTimeout);
                    }
                    else
                    {
                        (items ??= []).Add(item);
                    }
                }

                if (_ready.Count == 0)
                {
                    _underWay -= items is null ? 1 : 0;
                    return items;
                }
            }
        }
    }

    private async Task WriteAsync(List<WriteItem>? items)
    {
        while (items is not null)
        {
            // Other requests' writes follow in this flow. Those written with one call are under the activity of the first.
            Activity.Current = items[0].Request.Cause is { IsStopped: true } ? null : items[0].Request.Cause;
            bool isConnected = source.Source.IsConnected;
            ServedTag[] fixedTags = [.. items.Select(static item => item.Tag).Where(static tag => !tag.Info.IsWritable)];
            if (isConnected && fixedTags.Length != 0)
            {
                // The source may allow writes that it did not allow when the names were resolved.
                await source.RefreshAsync(fixedTags).ConfigureAwait(false);
            }

            List<WriteItem> written = [];
            lock (source.Gate)
            {
                // Nothing is written to a disconnected source: the known values of its tags stay valid.
                long now = source.Now;
                foreach (WriteItem item in items.Where(item => isConnected && item.Tag.Info.IsWritable && !item.Request.IsGivenUp))
                {
                    item.Tag.Writes.WrittenAt = now;
                    written.Add(item);
                }
            }

            var statuses = new TagStatus[written.Count];
            TagStatus status = written.Count == 0 ? TagStatus.Good : await WriteAsync(written, statuses).ConfigureAwait(false);

            // What an abandoned source writes later is unknown: the next write of these tags proceeds anyway.
            lock (source.Gate)
            {
                _underWay--;
                long now = source.Now;
                written.ForEach(item => item.Tag.Writes.WrittenAt = now);
                items.ForEach(item => Release(item.Tag.Writes));
            }

            for (int i = 0; i < statuses.Length; i++)
            {
                written[i].Request.End(written[i].Row, status.IsGood ? statuses[i] : status);
            }

            // Items that have a status keep it.
            TagStatus reason = isConnected ? TagStatus.BadNotWritable : TagStatus.BadNoCommunication;
            items.ForEach(item => item.Request.End(item.Row, reason));
            items = Begin();
        }
    }

    private async ValueTask<TagStatus> WriteAsync(List<WriteItem> items, TagStatus[] statuses)
    {
        source.Telemetry.OnWritten(items.Count);
        int[] keys = [.. items.Select(static item => item.Tag.Key)];
        var values = new TagSamples();
        items.ForEach(item => values.Add(item.Request.Samples, item.Row));
        (TagStatus status, _) = await source.CallAsync(
            token => source.Source.WriteAsync(keys, values, statuses, token), "Write").ConfigureAwait(false);
        return status;
    }

    // The next one may go.
    private void Release(TagWrites writes)
    {
        if (writes.Waiting is { } waiting && waiting.TryDequeue(out WriteItem next))
        {
            _ready.Enqueue(next);
        }
        else
        {
            writes.IsUnderWay = false;
        }
    }
}
