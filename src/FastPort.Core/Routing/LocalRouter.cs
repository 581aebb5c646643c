using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Sending;

namespace FastPort.Routing;

/// <summary>The router of one server: delivers to its own sessions.</summary>
internal sealed class LocalRouter(IdentityRegistry identities, TopicIndex topics) : IMessageRouter
{
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

            SendStatus status = session.TrySend(type, in body);
            if (status != SendStatus.Closed)
            {
                return status;
            }

            // It is leaving; perhaps because another one has just taken the id over.
            tried = session;
        }
    }

    public Task WhenWritableAsync(scoped ReadOnlySpan<byte> routingId) =>
        identities.Find(routingId)?.Session?.Protocol.Output.QueueLimit.WhenDrainedAsync() ?? Task.CompletedTask;

    public int Publish<TBody>(scoped ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        TopicIndex.Matches matches = topics.Match(topic, audience);
        if (!matches.MoveNext())
        {
            return 0;
        }

        MemberSet<Subscriber> first = matches.Current;
        SharedFrame frame = SharedFrame.Encode(type, in body);
        try
        {
            return matches.MoveNext() ? SendOnceToEach(frame, first, matches) : SendToAll(frame, first);
        }
        finally
        {
            frame.Release();
        }
    }

    private static int SendToAll(SharedFrame frame, MemberSet<Subscriber> set)
    {
        int sent = 0;
        foreach (Subscriber? subscriber in set.Members)
        {
            sent += subscriber is not null && frame.SendTo(subscriber.Session) ? 1 : 0;
        }

        return sent;
    }

    // Each session once, however many of its prefixes match.
    private static int SendOnceToEach(SharedFrame frame, MemberSet<Subscriber> first, TopicIndex.Matches others)
    {
        DeliveryMarks marks = DeliveryMarks.Begin();
        int sent = SendToUnmarked(frame, first, marks);
        do
        {
            sent += SendToUnmarked(frame, others.Current, marks);
        }
        while (others.MoveNext());

        marks.End();
        return sent;
    }

    private static int SendToUnmarked(SharedFrame frame, MemberSet<Subscriber> set, DeliveryMarks marks)
    {
        int sent = 0;
        foreach (Subscriber? subscriber in set.Members)
        {
            sent += subscriber is not null && marks.TryMark(subscriber) && frame.SendTo(subscriber.Session) ? 1 : 0;
        }

        return sent;
    }
}
