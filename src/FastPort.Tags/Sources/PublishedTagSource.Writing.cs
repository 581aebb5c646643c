using FastPort.Tags.Sources;
using FastPort.Tags.Wire;

namespace FastPort.Tags;

/// <content>
/// Writes: requests to the sessions that have declared the tags. A session has one at a time, so that writes of a tag keep their order and
/// each waits for the answer to the previous one. A write that exceeds the frame limit is divided into several.
/// </content>
public sealed partial class PublishedTagSource
{
    /// <summary>Asks the publishers to write.</summary>
    /// <inheritdoc/>
    public async ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken)
    {
        Dictionary<TagPublisher, List<int>> rows = [];
        var one = new HandleRows();
        List<Task> writing = [];
        lock (_gate)
        {
            for (int i = 0; i < tags.Count; i++)
            {
                PublishedTag tag = _published[tags[i]];
                TagInfo info = _tags.InfoOf(tags[i]);
                statuses.Span[i] = !info.IsWritable ? TagStatus.BadNotWritable
                    : !info.Accepts(values.EncodingOf(i), values.DimensionsOf(i)) ? TagStatus.BadTypeMismatch
                    : tag.Publisher is null || tag.IsForbidden ? TagStatus.BadNoCommunication
                    : !one.Fits(values, i, tag.Publisher.Session.MaxBodyBytes) ? TagStatus.BadResponseTooLarge
                    : TagStatus.Good;
                if (statuses.Span[i].IsGood)
                {
                    if (!rows.TryGetValue(tag.Publisher!, out List<int>? own))
                    {
                        rows.Add(tag.Publisher!, own = []);
                    }

                    own.Add(i);
                }
            }

            foreach ((TagPublisher publisher, List<int> own) in rows)
            {
                uint[] handles = [.. own.Select(row => (uint)tags[row] + 1)];
                var part = new TagSamples();
                own.ForEach(row => part.Add(values, row));
                Task<TagStatus[]> answering = WriteAfterAsync(publisher.Writing, publisher.Session, handles, part, cancellationToken);
                publisher.Writing = answering;
                writing.Add(SpreadAsync(answering, own, statuses));
            }
        }

        await Task.WhenAll(writing).ConfigureAwait(false);
        return TagStatus.Good;
    }

    private static async Task SpreadAsync(Task<TagStatus[]> answering, List<int> rows, Memory<TagStatus> statuses)
    {
        TagStatus[] answers = await answering.ConfigureAwait(false);
        for (int i = 0; i < answers.Length; i++)
        {
            statuses.Span[rows[i]] = answers[i];
        }
    }

    // The time for a write begins now, so that many of them do not wait longer than one. Never fails.
    private async Task<TagStatus[]> WriteAfterAsync(
        Task before, Session publisher, uint[] handles, TagSamples values, CancellationToken cancellationToken)
    {
        long begun = _time.GetTimestamp();
        await before.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ForceYielding);
        var answers = new TagStatus[handles.Length];
        var part = new HandleRows();
        for (int row = 0; row < handles.Length;)
        {
            part.Clear();
            int first = row;
            while (row < handles.Length && part.TryAdd(handles[row], values, row, publisher.MaxBodyBytes))
            {
                row++;
            }

            Memory<TagStatus> own = answers.AsMemory(first, part.Count);
            TimeSpan left = _options.WriteTimeout - _time.GetElapsedTime(begun);
            TagStatus failure = left <= TimeSpan.Zero || cancellationToken.IsCancellationRequested ? TagStatus.BadTimeout
                : await WriteAsync(publisher, part.Handles, part.Samples, own, left, cancellationToken).ConfigureAwait(false);
            if (!failure.IsGood)
            {
                own.Span.Fill(failure);
            }
        }

        return answers;
    }

    private static async Task<TagStatus> WriteAsync(
        Session publisher, uint[] handles, TagSamples values, Memory<TagStatus> answers, TimeSpan left, CancellationToken cancellationToken)
    {
        try
        {
            bool isRead = await publisher.RequestAsync(
                TagMessageType.Write,
                new WriteTagsBody(handles, values, (uint)Math.Ceiling(left.TotalMilliseconds)),
                (scoped in InboundReply reply) => Contiguous.Read(reply.Body, body => TagMessages.TryReadStatuses(body, 1, answers.Span)),
                left,
                cancellationToken).ConfigureAwait(false);
            return isRead ? TagStatus.Good : TagStatus.BadInternalError;
        }
        catch (RequestFailedException e)
        {
            // Writes that were sent and not answered may have been executed.
            return e.Failure switch
            {
                null => TagStatus.BadInternalError,
                RequestFailure.TimedOut or RequestFailure.ConnectionLost => TagStatus.BadTimeout,
                _ => TagStatus.BadNoCommunication,
            };
        }
        catch (OperationCanceledException)
        {
            return TagStatus.BadTimeout;
        }
        catch (ArgumentException)
        {
            // Larger than the publisher's frame limit.
            return TagStatus.BadResponseTooLarge;
        }
    }
}
