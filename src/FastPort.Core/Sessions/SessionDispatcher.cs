using FastPort.Connections;
using FastPort.Framing;
using FastPort.Telemetry;

namespace FastPort.Sessions;

/// <summary>
/// Receives a session's requests and one-way messages from the frame protocol. A higher layer implements it. All calls come on the
/// session's loop, except <see cref="Watch"/>.
/// </summary>
internal abstract class SessionDispatcher
{
    /// <summary>Collects the latencies of the current burst.</summary>
    protected HandledBurst Handled { get; set; } = null!;

    /// <summary>The newest clock reading of the current burst.</summary>
    public long LastReading => Handled.LastReading;

    /// <summary>Whether the current frame has been postponed for its handler's whole timeout.</summary>
    public abstract bool IsOverdue { get; }

    /// <summary>Whether the current frame was passed to it already and waits: for the authorizer, or by its handler.</summary>
    public abstract bool HoldsFrame { get; }

    /// <summary>Whether the current frame waits for another peer: its handler has no room for it at that peer.</summary>
    public abstract bool WaitsForPeer { get; }

    /// <summary>Begins a burst. The latencies of the messages handled in it are recorded together.</summary>
    /// <param name="received">When the burst's bytes were in memory, in nanoseconds of the monotonic clock.</param>
    /// <param name="now">The clock's reading, in nanoseconds.</param>
    public abstract void BeginBurst(long received, long now);

    public abstract void EndBurst();

    /// <summary>Handles one frame; false to be called again with the same frame after a resume.</summary>
    public abstract bool TryDispatch(in FrameHeader header, ArrayPoolCircularBuffer input, long received);

    /// <summary>As <see cref="TryDispatch"/>, for a request with More: it opens a stream of requests or is an item of one.</summary>
    public abstract bool TryDispatchItem(in FrameHeader header, ArrayPoolCircularBuffer input, long received);

    /// <summary>The peer grants credit for the replies of one of its calls, or announces a call.</summary>
    public abstract void OnCredit(in CreditBody credit);

    /// <summary>Ends the streams that the peer has opened.</summary>
    /// <param name="code">The code that the peer receives for each; None to send nothing, because it can receive or grant no more.</param>
    public abstract void EndStreams(ErrorCode code);

    /// <summary>The requester canceled a request.</summary>
    public abstract void Cancel(uint correlation);

    public abstract void OnTick(long nowMilliseconds);

    /// <summary>Checks whether a handler blocks the loop. On the clock's thread. Returns when to check again.</summary>
    /// <param name="nowMilliseconds">The clock's reading, in milliseconds.</param>
    /// <param name="burstIsDue">Whether bytes have arrived for which no burst has begun yet.</param>
    public abstract long Watch(long nowMilliseconds, bool burstIsDue);

    public abstract void OnClosed();
}
