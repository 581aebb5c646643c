using System.Runtime.CompilerServices;
using FastPort.Sessions;

namespace FastPort.Protocol.Diagnostics;

/// <summary>
/// The Sink messages of one session. Written by inline handlers only, of which one runs at a time for a session. Kept beside the session,
/// so that its State stays the application's.
/// </summary>
internal sealed class SinkCount
{
    private static readonly ConditionalWeakTable<Session, SinkCount> Counts = [];

    // Messages come in runs of one session. The count knows its session by number: a reference would keep it alive on a thread that has
    // nothing else to do.
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
