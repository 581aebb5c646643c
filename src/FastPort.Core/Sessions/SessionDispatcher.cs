using FastPort.Buffers;
using FastPort.Framing;
using FastPort.Telemetry;

namespace FastPort.Sessions;

/// <summary>
/// Where the frame protocol takes a session's requests and one-way messages. A layer above implements it. All calls come on the session's
/// loop, except <see cref="Watch"/>.
/// </summary>
internal abstract class SessionDispatcher
{
    /// <summary>Collects the latencies of the burst under way.</summary>
    protected HandledBurst Handled { get; set; } = null!;

    /// <summary>Within a burst: its newest clock reading.</summary>
    public long LastReading => Handled.LastReading;

    /// <summary>Whether the frame at hand has been postponed for as long as its handler would wait.</summary>
    public abstract bool IsOverdue { get; }

    /// <summary>A burst begins: the latencies of what it handles are recorded together.</summary>
    /// <param name="received">When its bytes were in memory, in nanoseconds of the monotonic clock.</param>
    /// <param name="now">The clock's reading.</param>
    public abstract void BeginBurst(long received, long now);

    public abstract void EndBurst();

    /// <summary>Handles one frame. False to be called again with the same frame after a resume.</summary>
    public abstract bool TryDispatch(in FrameHeader header, ArrayPoolCircularBuffer input, long received);

    /// <summary>The requester no longer wants the reply.</summary>
    public abstract void Cancel(uint correlation);

    public abstract void OnTick(long nowMilliseconds);

    /// <summary>Looks whether a handler blocks the loop; on the clock's thread. Returns when to look again.</summary>
    /// <param name="nowMilliseconds">The clock's reading.</param>
    /// <param name="burstIsDue">Whether bytes have come for which no burst has begun yet.</param>
    public abstract long Watch(long nowMilliseconds, bool burstIsDue);

    public abstract void OnClosed();
}
