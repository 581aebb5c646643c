using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Limits;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry.Counters;

namespace FastPort.Hosting;

// What peers may take of the server: places before they have said Hello, and memory.
public sealed partial class FastPortServer
{
    // How long the memory of sessions that were closed for it may take to come back, before it is looked for others.
    private static readonly TimeSpan ReclaimPatience = TimeSpan.FromSeconds(1);

    // States of _reclaiming.
    private const int Idle = 0;
    private const int Running = 1;
    private const int AskedForAgain = 2;

    private readonly MemoryBudget _memory;
    private int _unidentified;
    private int _reclaiming;

    /// <summary>Bytes that count for <see cref="FastPortServerOptions.MaxBufferedMegabytes"/> now.</summary>
    internal long BufferedBytes => _memory.Used;

    internal TimeSpan ShutdownTimeout => _options.ShutdownTimeout;

    private bool IsHelloRequired => _components.Authenticator is not null || _options.RequireRoutingId;

    private int MaxUnidentified => _options.MaxUnidentifiedConnections ?? Math.Max(1, _options.MaxConnections / 4);

    private (ConnectionRejection, string)? TryEnter()
    {
        if (IsHelloRequired && Interlocked.Increment(ref _unidentified) > MaxUnidentified && MaxUnidentified != 0)
        {
            Interlocked.Decrement(ref _unidentified);
            return (ConnectionRejection.UnidentifiedLimit, $"{_options.Section}:MaxUnidentifiedConnections is {MaxUnidentified}");
        }

        return null;
    }

    private void Identified()
    {
        if (IsHelloRequired)
        {
            Interlocked.Decrement(ref _unidentified);
        }
    }

    // Also where the protocol was never opened: then nobody was identified.
    private void Leave(Connection? connection)
    {
        if (connection?.Protocol is not FrameProtocol { Session.IsIdentified: true })
        {
            Identified();
        }
    }

    private MemoryBudget CreateMemoryBudget()
    {
        long limit = _options.MaxBufferedMegabytes is { } megabytes
            ? megabytes * 1024L * 1024
            : GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4;
        return new MemoryBudget(limit) { Exceeded = OnMemoryExceeded };
    }

    // On a loop: the work is the pool's, one at a time, and done again where it was asked for meanwhile.
    private void OnMemoryExceeded()
    {
        if (Interlocked.Exchange(ref _reclaiming, AskedForAgain) == Idle)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static server => _ = server.ReclaimMemoryAsync(), this, preferLocal: false);
        }
    }

    private static void CloseForMemory(Session session, int bytes)
    {
        var reason = new CloseReason(
            CloseKind.MemoryLimit,
            $"{bytes} bytes were held for what it had sent in part, and FastPort:MaxBufferedMegabytes was used up.",
            (uint)ErrorCode.Overloaded);
        if (session.IsIdentified)
        {
            session.Protocol.CloseWithGoodbye(reason);
        }
        else
        {
            session.Connection.Abort(reason);
        }
    }

    // A known peer's requests that wait in its ring are served when there is room for them.
    private static bool MayBeClosedForMemory(Session session) => !session.IsIdentified || session.Protocol.Deadlines.IsUnfinished;

    // Closes sessions for which more is held than every session may have: those first that have not said Hello, and of them the oldest
    // unfinished frames.
    private async Task ReclaimMemoryAsync()
    {
        do
        {
            Volatile.Write(ref _reclaiming, Running);
            try
            {
                await Task.WhenAll(CloseForMemory(_memory.Excess)).WaitAsync(ReclaimPatience, _time).ConfigureAwait(false);
            }
            catch (TimeoutException)
            {
                // A loop is busy, or a peer slow to hear its Goodbye.
            }
        }
        while (Interlocked.CompareExchange(ref _reclaiming, Idle, Running) != Running);
    }

    private List<Task> CloseForMemory(long excess)
    {
        List<Task> closed = [];
        foreach ((Session session, int bytes) in Sessions
            .Select(static s => (Session: s, Bytes: s.Protocol.Deadlines.HeldBytes))
            .Where(static s => s.Bytes > MemoryBudget.FreeBytes && !s.Session.IsClosed && MayBeClosedForMemory(s.Session))
            .OrderBy(static s => s.Session.IsIdentified)
            .ThenByDescending(static s => s.Session.Protocol.Deadlines.IsUnfinished)
            .ThenBy(static s => s.Session.Protocol.Deadlines.UnfinishedSince)
            .ToArray())
        {
            if (excess <= 0)
            {
                break;
            }

            excess -= bytes;
            CloseForMemory(session, bytes);
            closed.Add(session.Closed);
        }

        return closed;
    }
}
