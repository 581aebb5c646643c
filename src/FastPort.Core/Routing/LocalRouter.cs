using FastPort.Framing;
using FastPort.Sessions.Sending;

namespace FastPort.Routing;

/// <summary>The router of one server: sends to its own sessions.</summary>
internal sealed class LocalRouter(IdentityRegistry identities, TopicIndex topics) : IMessageRouter
{
    /// <summary>Subscribers that a publication is sent to before other connections have their turn.</summary>
    public const int SessionsAtOnce = 512;

    public SendStatus TrySend<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        Session? tried = null;
        while (true)
        {
            Session? session = identities.Find(routingId)?.Session;
            if (session is null || ReferenceEquals(session, tried))
            {
                return SendStatus.NotFound;
            }

            SendStatus status = session.TrySendOutOfContext(type, in body);
            if (status != SendStatus.Closed)
            {
                return status;
            }

            // This session is closing, possibly because another one has just taken over the id.
            tried = session;
        }
    }

    public Task WhenWritableAsync(scoped ReadOnlySpan<byte> routingId, CancellationToken cancellationToken = default) =>
        identities.Find(routingId)?.Session?.Protocol.Output.QueueLimit.WhenDrainedAsync(cancellationToken) ?? Task.CompletedTask;

    public int Publish<TBody>(
        scoped ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body, ref int next)
        where TBody : IFrameBody, allows ref struct
    {
        TopicIndex.Matches matches = topics.Match(topic, audience);
        int from = next;
        next = 0;
        if (!matches.MoveNext())
        {
            return 0;
        }

        int until = Until(from, matches);
        next = until == int.MaxValue ? 0 : until;
        TopicIndex.Matches first = matches;
        SharedFrame frame = SharedFrame.Encode(type, in body);
        try
        {
            return matches.MoveNext()
                ? SendOnceToEach(frame, first, matches, from, until)
                : Send(frame, first, from, until, marks: null);
        }
        finally
        {
            frame.Release();
        }
    }

    // A call sends to the subscribers with numbers in a range; subscribers keep their numbers between calls. If there are many, the end of
    // the range is chosen so that it contains at most SessionsAtOnce of them, or one bucket of numbers.
    private int Until(int from, TopicIndex.Matches matches)
    {
        if (CountUpTo(SessionsAtOnce + 1, matches) <= SessionsAtOnce)
        {
            return int.MaxValue;
        }

        Span<int> buckets = stackalloc int[256];
        buckets.Clear();
        int width = (Math.Max(topics.Numbers - from, 0) / buckets.Length) + 1;
        do
        {
            foreach (Subscriber? subscriber in matches.Current.Members)
            {
                int bucket = subscriber is null ? -1 : (subscriber.Number - from) / width;
                if ((uint)bucket < (uint)buckets.Length && subscriber!.Number >= from)
                {
                    buckets[bucket]++;
                }
            }
        }
        while (matches.MoveNext());

        int sessions = buckets[0];
        int taken = 1;
        while (taken < buckets.Length && (sessions += buckets[taken]) <= SessionsAtOnce)
        {
            taken++;
        }

        return taken == buckets.Length ? int.MaxValue : from + (taken * width);
    }

    private static int CountUpTo(int limit, TopicIndex.Matches matches)
    {
        int count = 0;
        do
        {
            count += matches.Current.Count;
        }
        while (count < limit && matches.MoveNext());
        return count;
    }

    // Sends to each session once, even if several of its prefixes match.
    private static int SendOnceToEach(SharedFrame frame, TopicIndex.Matches first, TopicIndex.Matches others, int from, int until)
    {
        DeliveryMarks marks = DeliveryMarks.Begin();
        int sent = Send(frame, first, from, until, marks);
        do
        {
            sent += Send(frame, others, from, until, marks);
        }
        while (others.MoveNext());

        marks.End();
        return sent;
    }

    // To its current subscribers. Only a peer that has subscribed itself gets it before its Hello.
    private static int Send(SharedFrame frame, in TopicIndex.Matches matches, int from, int until, DeliveryMarks? marks)
    {
        int sent = 0;
        foreach (Subscriber? subscriber in matches.Current.Members)
        {
            sent += subscriber is not null && subscriber.Number >= from && subscriber.Number < until
                && marks?.TryMark(subscriber) != false && frame.SendTo(subscriber.Session, matches.IsByPeers) ? 1 : 0;
        }

        return sent;
    }
}
