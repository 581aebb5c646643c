using System.Diagnostics;

namespace FastPort.Tags.Serving;

/// <summary>
/// Reads tags of one source for all sessions. Tags that are requested while reads are in progress are combined into one call, each tag
/// once. A read joins an already sent call only if its maximum age permits it.
/// </summary>
internal sealed class SourceReader(ServedSource source, TagServerOptions options)
{
    // The columns of a larger call are not kept for the next one.
    private const int MaxKeptBytes = 4 * 1024 * 1024;

    // Samples of calls that have ended, for the next ones.
    private readonly Stack<TagSamples> _samples = new();
    private ReadBatch? _unsent;
    private int _underWay;

    // Tags that joined a call since the last look.
    private int _joined;

    /// <summary>
    /// Schedules a read of a tag, unless a call in progress will answer. Returns the call to wait for. Under the source's gate; then
    /// <see cref="Send"/> without it.
    /// </summary>
    public ReadBatch Need(ServedTag tag, long since)
    {
        if (tag.Sent is { } sent && sent.SentAt >= since && sent.SentAt > tag.Writes.WrittenAt)
        {
            _joined++;
            return sent;
        }

        if (tag.Unsent is { } unsent)
        {
            _joined++;
            return unsent;
        }

        ReadBatch batch = _unsent ??= new ReadBatch();
        batch.Keys.Add(tag.Key);
        batch.Tags.Add(tag);
        tag.Unsent = batch;
        return batch;
    }

    /// <summary>Sends the requested reads, unless enough calls are in progress; their end then sends them.</summary>
    public void Send()
    {
        if (Begin() is { } batch)
        {
            _ = NoContext.Start(() => ReadAsync(batch));
        }
    }

    private ReadBatch? Begin()
    {
        lock (source.Gate)
        {
            if (_unsent is not { } batch || _underWay >= options.MaxConcurrentReads)
            {
                return null;
            }

            _unsent = null;
            _underWay++;
            source.Telemetry.OnRead(batch.Tags.Count);
            batch.SentAt = source.Now;
            foreach (ServedTag tag in batch.Tags)
            {
                tag.Unsent = null;
                tag.Sent = batch;
            }

            return batch;
        }
    }

    private async Task ReadAsync(ReadBatch? batch)
    {
        while (batch is not null)
        {
            TagSamples samples;
            lock (source.Gate)
            {
                samples = _samples.Count == 0 ? new TagSamples() : _samples.Pop();
            }

            // Other requests' calls follow in this flow, each under the activity of its own first request.
            Activity.Current = batch.Cause is { IsStopped: true } ? null : batch.Cause;
            samples.Clear();
            (TagStatus status, bool isAbandoned) = await source.CallAsync(
                token => source.Source.ReadAsync(batch.Keys, samples, token), "Read").ConfigureAwait(false);
            if (status.IsGood && samples.Count != batch.Tags.Count)
            {
                ServingLog.WrongCount(source.Logger, source.Source.Name, "Read", batch.Tags.Count, samples.Count);
                status = TagStatus.BadInternalError;
            }

            End(batch, status, samples, isAbandoned);
            batch.Complete();
            batch = Begin();
        }
    }

    private void End(ReadBatch batch, TagStatus status, TagSamples samples, bool isAbandoned)
    {
        lock (source.Gate)
        {
            source.Telemetry.OnJoined(_joined);
            _joined = 0;
            _underWay--;
            for (int i = 0; i < batch.Tags.Count; i++)
            {
                ServedTag tag = batch.Tags[i];
                if (status.IsGood)
                {
                    tag.Keep(samples, i, batch.SentAt, feed: null);
                }
                else
                {
                    tag.FailedAt = batch.SentAt;
                    tag.Failure = status;
                }

                if (tag.Sent == batch)
                {
                    tag.Sent = null;
                }
            }

            // An abandoned source may still write to them.
            if (!isAbandoned && samples.MaxSize <= MaxKeptBytes)
            {
                _samples.Push(samples);
            }
        }
    }
}
