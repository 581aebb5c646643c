using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.InteropServices;
using FastPort.Tags.Serving;
using FastPort.Tags.Wire;

namespace FastPort.Tags;

/// <content>Read and Write.</content>
public sealed partial class TagServer
{
    // The columns of a larger reply are not kept for the next one.
    private const int MaxKeptBytes = 1024 * 1024;

    // About as many as a reply of that size has.
    private const int MaxKeptTags = 36_000;

    // Those of more reads at a time are not kept, either.
    private const int MaxKeptReads = 128;

    // Rows between two checks of the reply's size.
    private const int RowsPerLook = 16;

    private readonly ConcurrentBag<ReadWork> _reads = [];

    // How many there are, in use or kept.
    private int _readCount;

    private async ValueTask ReadAsync(RequestContext context)
    {
        long arrived = _time.GetTimestamp();
        if (!_reads.TryTake(out ReadWork? work))
        {
            work = new ReadWork();
            Interlocked.Increment(ref _readCount);
        }

        try
        {
            if (!work.Request.TryReadRead(context.Body.Span))
            {
                context.Fail(ErrorCode.MalformedBody, "The body is not a ReadTags message.");
                return;
            }

            CheckCount(work.Request.Handles.Length);
            work.Tags.Clear();
            work.Batches.Clear();
            TagSession session = SessionOf(context.Session);
            foreach (uint handle in work.Request.Handles)
            {
                work.Tags.Add(Find(session, handle, TagAccess.Read));
            }

            CollectionsMarshal.SetCount(work.Written, work.Tags.Count);

            long since = arrived - (work.Request.MaxAge * _time.TimestampFrequency / 1000);
            Ask(work, since);
            if (work.Batches.Count != 0)
            {
                Task done = work.Batches.Count == 1 ? work.Batches[0].Done
                    : Task.WhenAll(work.Batches.Select(static batch => batch.Done));
                await done.WaitAsync(Timeout(work.Request.Timeout), _time, context.Aborted)
                    .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }

            if (!TryAnswer(work, session, since, context.Session.MaxBodyBytes))
            {
                context.Fail(
                    ErrorCode.ReplyTooLarge, $"The values have more than {context.Session.MaxBodyBytes} bytes; read fewer tags at a time.");
                return;
            }

            context.Reply(new TagSamplesBody(work.Reply));
        }
        finally
        {
            // Each use is checked, even refused ones, so no kept object has ever been larger.
            if (Volatile.Read(ref _readCount) <= MaxKeptReads && work.Reply.MaxSize <= MaxKeptBytes
                && work.Request.Handles.Length <= MaxKeptTags)
            {
                _reads.Add(work);
            }
            else
            {
                Interlocked.Decrement(ref _readCount);
            }
        }
    }

    // Schedules reads of the tags that the cache does not answer. Consecutive tags of one source are checked under one lock.
    private static void Ask(ReadWork work, long since)
    {
        for (int i = 0; i < work.Tags.Count;)
        {
            if (work.Tags[i] is not { } first)
            {
                i++;
                continue;
            }

            ServedSource source = first.Owner;
            int cached = 0;
            bool mustSend = false;
            lock (source.Gate)
            {
                for (; i < work.Tags.Count && (work.Tags[i] is not { } tag || tag.Owner == source); i++)
                {
                    tag = work.Tags[i]!;
                    if (tag is null || !tag.Info.IsReadable)
                    {
                        continue;
                    }

                    long written = tag.Writes.WrittenAt;
                    work.Written[i] = written;
                    if (work.Request.MaxAge != 0 && tag.IsFresh(since, written))
                    {
                        cached++;
                    }
                    else if (source.IsConnected)
                    {
                        work.Wait(source.Reader.Need(tag, since));
                        mustSend = true;
                    }
                }
            }

            source.Telemetry.OnFromCache(cached);
            if (mustSend)
            {
                source.Reader.Send();
            }
        }
    }

    // False if the reply is too large for a frame; it is then incomplete.
    private static bool TryAnswer(ReadWork work, TagSession session, long since, int maxBytes)
    {
        work.Reply.Clear();
        for (int i = 0; i < work.Tags.Count;)
        {
            if (work.Tags[i] is not { } first)
            {
                work.Reply.Add(TagSample.Bad(WhyNot(session, work.Request.Handles[i])));
                i++;
                continue;
            }

            lock (first.Owner.Gate)
            {
                for (; i < work.Tags.Count && work.Tags[i] is { } tag && tag.Owner == first.Owner; i++)
                {
                    Answer(work, i, tag, since);
                    if (i % RowsPerLook == 0 && work.Reply.ValuesSize > maxBytes)
                    {
                        return false;
                    }
                }
            }
        }

        return true;
    }

    private static void Answer(ReadWork work, int row, ServedTag tag, long since)
    {
        if (!tag.Info.IsReadable)
        {
            work.Reply.Add(TagSample.Bad(TagStatus.BadNotReadable));
        }
        else if (tag.WasRead(since, work.Written[row]) || (work.Request.MaxAge != 0 && tag.IsFresh(since, work.Written[row])))
        {
            tag.AddTo(work.Reply);
        }
        else
        {
            work.Reply.Add(TagSample.Bad(
                !tag.Owner.IsConnected ? TagStatus.BadNoCommunication : tag.FailedAt >= since ? tag.Failure : TagStatus.BadTimeout));
        }
    }

    private async ValueTask WriteAsync(RequestContext context)
    {
        var message = new TagRequestMessage();
        if (!message.TryReadWrite(context.Body.Span))
        {
            context.Fail(
                ErrorCode.MalformedBody,
                "The body is not a WriteTags message with a row for each handle, or a number is beyond the range of its type.");
            return;
        }

        int count = message.Handles.Length;
        CheckCount(count);
        var request = new WriteRequest(message.Samples, count);
        Write(SessionOf(context.Session), message.Handles, request);
        if (count != 0)
        {
            await request.Done.WaitAsync(Timeout(message.Timeout), _time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        context.Reply(new WrittenTagsBody(request.Settle(TagStatus.BadTimeout)));

        // An abandoned write keeps its place and its bytes in the session's queue while a source may have it: a peer that does not wait
        // cannot make the server hold more than a peer that waits.
        if (count != 0)
        {
            await request.Done.ConfigureAwait(false);
        }
    }

    private void Write(TagSession session, ReadOnlySpan<uint> handles, WriteRequest request)
    {
        // First, because an authorizer may throw: writes that a writer has taken are executed.
        for (int i = 0; i < handles.Length; i++)
        {
            if (Find(session, handles[i], TagAccess.Write) is null)
            {
                request.End(i, WhyNot(session, handles[i]));
            }
        }

        HashSet<SourceWriter> writers = [];
        ServedTag[] tags = Volatile.Read(ref _tags);
        for (int i = 0; i < handles.Length; i++)
        {
            if (request.HasEnded(i))
            {
                continue;
            }

            ServedTag tag = tags[handles[i] - 1];
            lock (tag.Owner.Gate)
            {
                tag.Writer.Add(new WriteItem(request, i, tag));
            }

            writers.Add(tag.Writer);
        }

        foreach (SourceWriter writer in writers)
        {
            writer.Send();
        }
    }

    // Used again for the next request.
    private sealed class ReadWork
    {
        public TagRequestMessage Request { get; } = new();

        public List<ServedTag?> Tags { get; } = [];

        /// <summary>For each tag when it had been written the last time when the request came.</summary>
        public List<long> Written { get; } = [];

        public List<ReadBatch> Batches { get; } = [];

        public TagSamples Reply { get; } = new();

        public void Wait(ReadBatch batch)
        {
            if (Batches.Count == 0 || (Batches[^1] != batch && !Batches.Contains(batch)))
            {
                Batches.Add(batch);
                if (batch.Cause is { } cause && Activity.Current is { IsAllDataRequested: true } own && own != cause)
                {
                    own.AddLink(new ActivityLink(cause.Context));
                }
            }
        }
    }
}
