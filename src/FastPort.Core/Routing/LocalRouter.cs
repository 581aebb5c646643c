using FastPort.Framing;
using FastPort.Sessions;

namespace FastPort.Routing;

/// <summary>The router of one server: delivers to its own sessions.</summary>
internal sealed class LocalRouter(IdentityRegistry identities, TopicIndex topics) : IMessageRouter
{
    // Who has a message already where several prefixes match; empty between uses.
    [field: ThreadStatic]
    private static HashSet<Session>? Told { get; set; }

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
        identities.Find(routingId)?.Session?.Protocol.Output.Room.WhenDrainedAsync() ?? Task.CompletedTask;

    public int Publish<TBody>(scoped ReadOnlySpan<byte> topic, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        PrefixTrie<MemberSet<Session>>.Matches matches = topics.Match(topic);
        if (!matches.MoveNext())
        {
            return 0;
        }

        MemberSet<Session> first = matches.Current;
        SharedFrame frame = SharedFrame.Encode(type, in body);
        try
        {
            return matches.MoveNext() ? SendToAll(frame, first, matches) : frame.SendTo(first.Members, asked: true);
        }
        finally
        {
            frame.Release();
        }
    }

    // Each session once, however many of its prefixes match.
    private static int SendToAll(SharedFrame frame, MemberSet<Session> first, PrefixTrie<MemberSet<Session>>.Matches others)
    {
        HashSet<Session> told = Told ?? [];
        Told = null;
        int sent = SendToNew(frame, first, told);
        do
        {
            sent += SendToNew(frame, others.Current, told);
        }
        while (others.MoveNext());

        told.Clear();
        Told = told;
        return sent;
    }

    private static int SendToNew(SharedFrame frame, MemberSet<Session> set, HashSet<Session> told)
    {
        int sent = 0;
        foreach (Session? session in set.Members)
        {
            if (session is not null && told.Add(session) && frame.SendTo(session))
            {
                sent++;
            }
        }

        return sent;
    }
}
