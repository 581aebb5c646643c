using System.Buffers;
using Microsoft.Extensions.Logging;

namespace FastPort.Connections;

/// <summary>
/// What a transport needs to know to run a connection. Immutable; shared by the connections of one listener or connector.
/// </summary>
public sealed record ConnectionSettings
{
    /// <summary>The coarse clock that serves the connections' deadlines.</summary>
    public required ConnectionClock Clock { get; init; }

    /// <summary>
    /// Largest number of unread bytes a receive ring may hold; at least the largest message of the protocol. Defaults to 1 MiB + 4 KiB.
    /// </summary>
    public int MaxReceiveBytes { get; init; } = (1024 * 1024) + 4096;

    /// <summary>Largest number of bytes a send ring may hold. Defaults to 4 MiB.</summary>
    public int MaxSendBytes { get; init; } = 4 * 1024 * 1024;

    /// <summary>
    /// How long bytes may wait without the peer taking any, before the connection is aborted; zero: for ever. Defaults to 30 s.
    /// </summary>
    public TimeSpan WriteTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Bytes per second that the peer must take while bytes wait, on the average of <see cref="WriteTimeout"/>; 0 or more. Defaults to 0:
    /// any progress will do.
    /// </summary>
    public int MinimumSendRate { get; init; }

    /// <summary>
    /// The longest that a close may take from its beginning, whatever the peer reads; the connection is aborted then. Above zero. Defaults
    /// to 30 s.
    /// </summary>
    public TimeSpan CloseTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>How long input is drained after the send side was shut down. Defaults to 1 s.</summary>
    public TimeSpan DrainTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Time without traffic after which the operating system probes the peer; zero: never. Defaults to 60 s.</summary>
    public TimeSpan KeepAlive { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>
    /// How long sent bytes may stay unacknowledged before the operating system gives up (TCP_USER_TIMEOUT, Linux only); zero: its default.
    /// Defaults to 30 s.
    /// </summary>
    public TimeSpan UserTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// TCP congestion control by the name the system has for it (<c>bbr</c>, <c>cubic</c>; TCP_CONGESTION, Linux only). Defaults to null:
    /// the system's, and <c>reno</c> on loopback addresses, where there is nothing to pace for.
    /// </summary>
    public string? CongestionControl { get; init; }

    /// <summary>
    /// Permissions of the file that a listener on a Unix socket makes; who may write to it may connect. Set before the first peer can
    /// connect. Defaults to null: reading and writing for the owner alone (0600), and nothing for names without a file, which have no
    /// permissions.
    /// </summary>
    public UnixFileMode? UnixSocketPermissions { get; init; }

    /// <summary>Called when accepting a connection failed, whatever the reason; for counting. Defaults to nothing.</summary>
    public Action? AcceptFailed { get; init; }

    /// <summary>Where defects are logged. What it throws costs its line alone.</summary>
    public required ILogger Logger
    {
        get;
        init => field = SafeLogger.Of(value);
    }

    /// <summary>
    /// Where the rings' arrays come from and go back to. Must be thread-safe. Defaults to <see cref="ArrayPool{T}.Shared"/>.
    /// </summary>
    public ArrayPool<byte> Pool { get; init; } = ArrayPool<byte>.Shared;

    /// <summary>What the rings of all connections may hold together. Defaults to null: they are not counted.</summary>
    internal MemoryBudget? Memory { get; init; }
}
