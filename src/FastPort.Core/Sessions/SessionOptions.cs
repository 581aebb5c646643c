using System.Buffers;
using FastPort.Configuration;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Sending;
using Microsoft.Extensions.Logging;

namespace FastPort;

/// <summary>What happens to a send when the bytes pending for the peer reach the limit.</summary>
public enum SendQueueFullPolicy
{
    /// <summary>The sender waits (asynchronously) until there is room.</summary>
    Wait,

    /// <summary>One-way messages are dropped and counted; requests and replies wait.</summary>
    DropOneWay,

    /// <summary>The session is closed as a slow consumer.</summary>
    Disconnect,
}

/// <summary>What happens when a Hello requests a routing id that another session has.</summary>
public enum DuplicateIdentityPolicy
{
    /// <summary>The new session receives DuplicateIdentity and may try another id.</summary>
    Refuse,

    /// <summary>The older session is closed and the new session takes the id.</summary>
    TakeOver,
}

/// <summary>Limits and deadlines of one session, the same on both sides. Every value has a default and is validated at the start.</summary>
public sealed class SessionOptions
{
    // Threads that may send batches on one session at the same moment. If more do so and the peer does not read, the session is aborted.
    private const long BatchesAtOnce = 64;

    /// <summary>Largest frame, in bytes after the length field and without the timing block; 1 KiB to 256 MiB. Defaults to 1 MiB.</summary>
    public int MaxFrameBytes { get; set; } = FrameLimits.Default;

    /// <summary>
    /// Bytes that may wait to be sent before <see cref="SendQueueFull"/> applies; 4 KiB to 256 MiB. One message may exceed it. Defaults to
    /// 1 MiB.
    /// </summary>
    public int SendQueueBytes { get; set; } = 1024 * 1024;

    /// <summary>What happens when the send queue is full. Defaults to <see cref="SendQueueFullPolicy.Wait"/>.</summary>
    public SendQueueFullPolicy SendQueueFull { get; set; } = SendQueueFullPolicy.Wait;

    /// <summary>
    /// Requests of one session that may wait or run at the same time: queued requests, and inline requests that wait behind them. At the
    /// limit, the socket is not read. 1 to 1,000,000. Defaults to 1,024.
    /// </summary>
    public int MaxInFlightRequests { get; set; } = 1024;

    /// <summary>
    /// Bytes of bodies of those requests for one session. At the limit, the socket is not read. 1 KiB to 1 GiB. Defaults to 16 MiB.
    /// </summary>
    public int MaxQueuedBytes { get; set; } = 16 * 1024 * 1024;

    /// <summary>
    /// Queued handlers of one session that may run at the same time; 1 to 10,000. Defaults to 1: one after the other.
    /// </summary>
    public int MaxConcurrency { get; set; } = 1;

    /// <summary>
    /// Streams that the peer of one session may have open at the same time; one more is refused with <see cref="ErrorCode.Overloaded"/>.
    /// They do not count as <see cref="MaxInFlightRequests"/>. 0 to 1,000,000. Defaults to 128.
    /// </summary>
    public int MaxStreams { get; set; } = 128;

    /// <summary>
    /// Items of one direction of a stream that may be under way to this side or wait here for their reader. 1 to 1,000,000. Defaults to
    /// 256.
    /// </summary>
    public int StreamWindowMessages { get; set; } = 256;

    /// <summary>
    /// Bytes of those items' bodies; the last item may exceed it. 1 to 256 MiB. Defaults to 128 KiB.
    /// </summary>
    public int StreamWindowBytes { get; set; } = 128 * 1024;

    /// <summary>
    /// Time for the first Hello, if one is required, until it is accepted; a component that has not answered by then is abandoned. Zero
    /// disables it. Defaults to 10 s.
    /// </summary>
    public TimeSpan HandshakeTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Time for the authorizer's answer about one message, and for the authenticator's about a Hello if <see cref="HandshakeTimeout"/> is
    /// disabled. A message without an answer in time is refused with <see cref="ErrorCode.Timeout"/>. Zero disables it. Defaults to 10 s.
    /// </summary>
    public TimeSpan AuthorizationTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Time from a frame's first byte to its last; zero disables it. Time in which this side does not read the session does not count.
    /// Defaults to 30 s.
    /// </summary>
    public TimeSpan FrameTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Time without any byte from the peer; bytes sent by this side do not count. Zero disables it. Defaults to 5 min.</summary>
    public TimeSpan IdleTimeout { get; set; } = TimeSpan.FromMinutes(5);

    /// <summary>Time in which the peer reads none of the bytes that wait for it; zero disables it. Defaults to 30 s.</summary>
    public TimeSpan WriteTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Bytes per second that a peer must read while bytes wait for it, averaged over <see cref="WriteTimeout"/>; 0 to 1 GiB, 0 for any
    /// progress. A slower peer is closed as by <see cref="WriteTimeout"/>, which also disables this. Defaults to 1,024.
    /// </summary>
    public int MinimumSendRate { get; set; } = 1024;

    /// <summary>
    /// Maximum time to close a session, regardless of its peer and its handlers; after it the session is aborted. A stopping server uses
    /// <c>ServerOptions.ShutdownTimeout</c> instead. 1 s to 1 day. Defaults to 30 s.
    /// </summary>
    public TimeSpan CloseTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// After Hello: silence after which a Ping is sent. After the same time again without any byte the session is closed. Zero disables it.
    /// Defaults to 15 s.
    /// </summary>
    public TimeSpan HeartbeatInterval { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>
    /// A burst of inline handlers that takes longer is logged with the handler's name, because all connections of its loop wait. Zero
    /// disables it. Defaults to 100 ms.
    /// </summary>
    public TimeSpan SlowHandlerThreshold { get; set; } = TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// Silence after which the operating system probes the peer (TCP keep-alive), up to 32,767 s, the maximum that Linux accepts; zero
    /// disables it. Defaults to 60 s.
    /// </summary>
    public TimeSpan KeepAlive { get; set; } = TimeSpan.FromSeconds(60);

    /// <summary>
    /// Time that sent bytes may stay unacknowledged (TCP_USER_TIMEOUT, Linux); zero keeps the system's default. Defaults to 30 s.
    /// </summary>
    public TimeSpan UserTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// TCP congestion control, by the system's name for it: <c>bbr</c>, <c>cubic</c>; 1 to 15 characters (TCP_CONGESTION, Linux). Defaults
    /// to null: the system's default, but <c>reno</c> on loopback addresses, where nothing is lost and pacing costs the sender up to a
    /// quarter of its time.
    /// </summary>
    public string? CongestionControl { get; set; }

    /// <summary>The pool for rings and copied bodies; tests count its arrays. Defaults to <see cref="ArrayPool{T}.Shared"/>.</summary>
    internal ArrayPool<byte> Pool { get; set; } = ArrayPool<byte>.Shared;

    /// <summary>Appends a sentence for every value that is out of range.</summary>
    /// <param name="section">Configuration path of this section, for the messages.</param>
    /// <param name="problems">Receives the sentences.</param>
    public void Validate(string section, ICollection<string> problems) =>
        OptionSection.Visit(section, problems, configured: null, Describe);

    internal void Describe(OptionSection section)
    {
        MaxFrameBytes = section.Number(nameof(MaxFrameBytes), MaxFrameBytes, FrameLimits.Minimum, FrameLimits.Maximum);
        SendQueueBytes = section.Number(nameof(SendQueueBytes), SendQueueBytes, 4096, 256 * 1024 * 1024);
        SendQueueFull = section.Choice(nameof(SendQueueFull), SendQueueFull);
        MaxInFlightRequests = section.Number(nameof(MaxInFlightRequests), MaxInFlightRequests, 1, 1_000_000);
        MaxQueuedBytes = section.Number(nameof(MaxQueuedBytes), MaxQueuedBytes, 1024, 1024 * 1024 * 1024);
        MaxConcurrency = section.Number(nameof(MaxConcurrency), MaxConcurrency, 1, 10_000);
        MaxStreams = section.Number(nameof(MaxStreams), MaxStreams, 0, 1_000_000);
        StreamWindowMessages = section.Number(nameof(StreamWindowMessages), StreamWindowMessages, 1, 1_000_000);
        StreamWindowBytes = section.Number(nameof(StreamWindowBytes), StreamWindowBytes, 1, 256 * 1024 * 1024);
        HandshakeTimeout = section.Timeout(nameof(HandshakeTimeout), HandshakeTimeout);
        AuthorizationTimeout = section.Timeout(nameof(AuthorizationTimeout), AuthorizationTimeout);
        FrameTimeout = section.Timeout(nameof(FrameTimeout), FrameTimeout);
        IdleTimeout = section.Timeout(nameof(IdleTimeout), IdleTimeout);
        WriteTimeout = section.Timeout(nameof(WriteTimeout), WriteTimeout);
        MinimumSendRate = section.Number(nameof(MinimumSendRate), MinimumSendRate, 0, 1024 * 1024 * 1024);
        CloseTimeout = section.Time(
            nameof(CloseTimeout),
            CloseTimeout,
            static time => time >= TimeSpan.FromSeconds(1) && time <= TimeSpan.FromDays(1),
            "allowed: 00:00:01 to 1.00:00:00");
        HeartbeatInterval = section.Timeout(nameof(HeartbeatInterval), HeartbeatInterval);
        SlowHandlerThreshold = section.Timeout(nameof(SlowHandlerThreshold), SlowHandlerThreshold);
        KeepAlive = section.Time(nameof(KeepAlive), KeepAlive, TimeSpan.Zero, ConnectionSettings.LongestKeepAlive);
        UserTimeout = section.Timeout(nameof(UserTimeout), UserTimeout);
        CongestionControl = section.Text(
            nameof(CongestionControl), CongestionControl, Transports.CongestionControl.IsPossible, Transports.CongestionControl.Allowed);
    }

    internal ConnectionSettings ToConnectionSettings(ConnectionClock clock, ILogger logger) => new()
    {
        Clock = clock,
        Logger = logger,
        Pool = Pool,
        WriteTimeout = WriteTimeout,
        MinimumSendRate = MinimumSendRate,
        CloseTimeout = CloseTimeout,
        KeepAlive = KeepAlive,
        UserTimeout = UserTimeout,
        CongestionControl = CongestionControl,

        // Room for the largest frame and the bytes received with it.
        MaxReceiveBytes = MaxFrameBytes + (64 * 1024),

        // The bound allows one message to exceed it, or one chunk of each batch admitted below it (SendQueueLimit), and the replies of
        // running handlers are always written. No memory is allocated before it is needed.
        MaxSendBytes = (int)Math.Min(
            SendQueueBytes + ((MaxConcurrency + 2L) * (MaxFrameBytes + 64)) + (BatchesAtOnce * FrameOutput.BatchChunk), 1 << 30),
    };
}
