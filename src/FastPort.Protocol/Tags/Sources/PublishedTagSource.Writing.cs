using FastPort.Protocol.Tags.Wire;
using FastPort.Sessions;

namespace FastPort.Protocol.Tags.Sources;

/// <content>Writes: requests to the sessions that have declared the tags.</content>
public sealed partial class PublishedTagSource
{
    /// <summary>Asks the publishers to write. Each gets one request.</summary>
    /// <inheritdoc/>
    public async ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken)
    {
        Dictionary<Session, List<int>> rows = [];
        lock (_gate)
        {
            for (int i = 0; i < tags.Count; i++)
            {
                PublishedTag tag = _published[tags[i]];
                statuses.Span[i] = !tag.Info.IsWritable ? TagStatus.BadNotWritable
                    : !tag.Info.Accepts(values.EncodingOf(i)) ? TagStatus.BadTypeMismatch
                    : tag.Session is null ? TagStatus.BadNoCommunication
                    : TagStatus.Good;
                if (statuses.Span[i].IsGood)
                {
                    if (!rows.TryGetValue(tag.Session!, out List<int>? own))
                    {
                        rows.Add(tag.Session!, own = []);
                    }

                    own.Add(i);
                }
            }
        }

        await Task.WhenAll(rows.Select(publisher => WriteAsync(publisher.Key, publisher.Value, tags, values, statuses, cancellationToken)))
            .ConfigureAwait(false);
        return TagStatus.Good;
    }

    private async Task WriteAsync(
        Session publisher,
        List<int> rows,
        IReadOnlyList<int> tags,
        TagSamples values,
        Memory<TagStatus> statuses,
        CancellationToken cancellationToken)
    {
        var handles = new uint[rows.Count];
        var own = new TagSamples();
        for (int i = 0; i < handles.Length; i++)
        {
            handles[i] = (uint)tags[rows[i]] + 1;
            own.Add(values, rows[i]);
        }

        var answers = new TagStatus[handles.Length];
        try
        {
            bool isRead = await publisher.RequestAsync(
                TagMessageType.Write,
                new WriteTagsBody(handles, own, (uint)_options.WriteTimeout.TotalMilliseconds),
                (scoped in InboundReply reply) => Contiguous.Read(reply.Body, body => TagMessages.TryReadStatuses(body, 1, answers)),
                _options.WriteTimeout,
                cancellationToken).ConfigureAwait(false);
            if (!isRead)
            {
                Array.Fill(answers, TagStatus.BadInternalError);
            }
        }
        catch (RequestFailedException e)
        {
            // What was sent and not answered may have been written.
            Array.Fill(answers, e.Failure switch
            {
                null => TagStatus.BadInternalError,
                RequestFailure.TimedOut or RequestFailure.ConnectionLost => TagStatus.BadTimeout,
                _ => TagStatus.BadNoCommunication,
            });
        }
        catch (ArgumentException)
        {
            // Larger than the publisher's frame limit.
            Array.Fill(answers, TagStatus.BadResponseTooLarge);
        }

        for (int i = 0; i < answers.Length; i++)
        {
            statuses.Span[rows[i]] = answers[i];
        }
    }
}
