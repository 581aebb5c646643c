namespace FastPort;

/// <summary>A server's use of its limited resources at one moment. Immutable.</summary>
/// <param name="BufferedBytes">
/// Bytes that count against <see cref="ServerOptions.MaxBufferedMegabytes"/>; of all servers of the process that have no separate limit.
/// </param>
/// <param name="MaxBufferedBytes">The limit of <paramref name="BufferedBytes"/>.</param>
/// <param name="PendingBytes">Bytes that connections have written and the operating system has not taken yet.</param>
/// <param name="SendBlockedConnections">Connections whose peers read more slowly than the server writes.</param>
/// <param name="LoopIdleTimes">
/// How long each event loop has had nothing to do since it started, by loop; spinning for work counts. The busy share of a loop is one
/// less the growth of its time between two readings, divided by the time between them. Empty while no loop runs, and always on transports
/// without event loops.
/// </param>
/// <param name="LoopRounds">
/// How often each event loop has looked for work since it started, by loop. A loop without idle time and without new rounds is stuck in a
/// handler.
/// </param>
public sealed record ServerLoad(
    long BufferedBytes,
    long MaxBufferedBytes,
    long PendingBytes,
    int SendBlockedConnections,
    IReadOnlyList<TimeSpan> LoopIdleTimes,
    IReadOnlyList<long> LoopRounds);
