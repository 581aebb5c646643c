using System.Runtime.CompilerServices;

namespace FastPort.Protocol.Diagnostics;

/// <summary>
/// Counts the Sink messages of one session. Only inline handlers write it, of which one runs at a time per session. Stored outside the
/// session, so that Session.State is free for the application.
/// </summary>
internal sealed class SinkCount
{
    private static readonly ConditionalWeakTable<Session, SinkCount> Counts = [];

    // The latest count of this thread: messages come in runs of one session. The count has the session's id and not a reference, which
    // would keep the session alive on an idle thread.
    [ThreadStatic]
    private static SinkCount? _last;

    private readonly long _session;

    private SinkCount(Session session) => _session = session.Id;

    public ulong Messages { get; private set; }

    public ulong Bytes { get; private set; }

    /// <summary>The session's count.</summary>
    public static SinkCount Of(Session session) =>
        _last is { } last && last._session == session.Id ? last : _last = Counts.GetOrAdd(session, static s => new SinkCount(s));

    public void Add(long bytes)
    {
        Messages++;
        Bytes += (ulong)bytes;
    }
}
