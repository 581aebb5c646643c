using System.Buffers;
using FastPort.Logging;
using Microsoft.Extensions.Logging;

namespace FastPort.Connections;

/// <summary>Settings of a transport's connections. Immutable; shared by the connections of one listener or connector.</summary>
public sealed record ConnectionSettings
{
    /// <summary>The longest <see cref="KeepAlive"/>: Linux accepts 15 bits of seconds (MAX_TCP_KEEPIDLE).</summary>
    internal static readonly TimeSpan LongestKeepAlive = TimeSpan.FromSeconds(32_767);

    /// <summary>The coarse clock of the connections' deadlines.</summary>
    public required ConnectionClock Clock { get; init; }

    /// <summary>
    /// Maximum number of unread bytes of a receive ring; at least the largest message of the protocol. Defaults to 1 MiB + 4 KiB.
    /// </summary>
    public int MaxReceiveBytes { get; init; } = (1024 * 1024) + 4096;

    /// <summary>Maximum number of bytes of a send ring. Defaults to 4 MiB.</summary>
    public int MaxSendBytes { get; init; } = 4 * 1024 * 1024;

    /// <summary>
    /// How long bytes may wait while the peer takes none, or fewer than <see cref="MinimumSendRate"/>, before the connection is closed;
    /// zero: unlimited. Defaults to 30 s.
    /// </summary>
    public TimeSpan WriteTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Bytes per second that the peer must take while bytes wait, averaged over <see cref="WriteTimeout"/>; 0 or more. Defaults to 0: one
    /// byte is enough.
    /// </summary>
    public int MinimumSendRate { get; init; }

    /// <summary>
    /// Maximum duration of a close, however much the peer reads; after it the connection is aborted. Above zero. Defaults to 30 s.
    /// </summary>
    public TimeSpan CloseTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Seconds after which the operating system probes a silent peer, within its limits.</summary>
    internal int KeepAliveSeconds => (int)Math.Clamp(KeepAlive.TotalSeconds, 1, LongestKeepAlive.TotalSeconds);

    /// <summary>Milliseconds for which sent bytes may stay unacknowledged, within the operating system's limits.</summary>
    internal int UserTimeoutMilliseconds => (int)Math.Clamp(UserTimeout.TotalMilliseconds, 1, int.MaxValue);

    /// <summary>How long the connection drains input after it has shut down the send side. Defaults to 1 s.</summary>
    public TimeSpan DrainTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Time without traffic after which the operating system probes the peer, in whole seconds, at least one and at most 32,767; zero:
    /// never. Defaults to 60 s.
    /// </summary>
    public TimeSpan KeepAlive { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>
    /// How long sent bytes may stay unacknowledged before the operating system gives up (TCP_USER_TIMEOUT, Linux only); zero: its default.
    /// Defaults to 30 s.
    /// </summary>
    public TimeSpan UserTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// TCP congestion control by the system's name (<c>bbr</c>, <c>cubic</c>; TCP_CONGESTION, Linux only). Defaults to null: the system's
    /// default, and <c>reno</c> on loopback addresses, where pacing has no benefit.
    /// </summary>
    public string? CongestionControl { get; init; }

    /// <summary>
    /// Permissions of the file that a listener on a Unix socket creates; a user with write permission can connect. Set before the first
    /// peer can connect. Defaults to null: read and write for the owner only (0600). Names without a file have no permissions: a
    /// listener refuses the setting there.
    /// </summary>
    public UnixFileMode? UnixSocketPermissions { get; init; }

    /// <summary>Called when accepting a connection has failed, for any reason; for counters. Defaults to null: no call.</summary>
    public Action? AcceptFailed { get; init; }

    /// <summary>Logs defects. An exception of the logger loses only its log line.</summary>
    public required ILogger Logger
    {
        get;
        init => field = SafeLogger.Of(value);
    }

    /// <summary>The pool of the rings' arrays. Must be thread-safe. Defaults to <see cref="ArrayPool{T}.Shared"/>.</summary>
    public ArrayPool<byte> Pool { get; init; } = ArrayPool<byte>.Shared;

    /// <summary>The memory budget of the rings of all connections. Defaults to null: no budget.</summary>
    internal MemoryBudget? Memory { get; init; }
}
