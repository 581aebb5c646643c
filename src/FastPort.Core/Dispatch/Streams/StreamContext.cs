using FastPort.Dispatch.Streams;

namespace FastPort;

/// <summary>A call that streams, for its handler. Valid until the handler has ended. Safe from any thread.</summary>
public sealed class StreamContext
{
    private readonly StreamCall _call;

    internal StreamContext(StreamCall call) => _call = call;

    /// <summary>The session the call came from.</summary>
    public Session Session => _call.Session;

    /// <summary>Message type.</summary>
    public ushort Type => _call.Type;

    /// <summary>The call's correlation.</summary>
    public uint Correlation => _call.Correlation;

    /// <summary>When the request that opened the call was complete in memory, on the monotonic clock, in nanoseconds.</summary>
    public long ReceivedNanoseconds => _call.ReceivedNanoseconds;

    /// <summary>
    /// The time that the caller still waits for the whole call, at least zero; null if it has set no limit for that, or its version does
    /// not send it. Calls that the handler makes wait no longer than that.
    /// </summary>
    public TimeSpan? TimeLeft => _call.TimeLeft;
}
