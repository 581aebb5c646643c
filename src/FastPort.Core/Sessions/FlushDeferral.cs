using FastPort.Sessions.Sending;

namespace FastPort;

/// <summary>
/// Messages that are sent with one flush; see <see cref="Session.DeferFlush"/>. Dispose it on the thread that began it, exactly once.
/// <para>
/// It flushes when it is disposed, and earlier only if the send queue is full (<see cref="SessionOptions.SendQueueBytes"/>). If another
/// thread flushes the session in the meantime, the deferred messages are sent too. For a continuous stream use <see cref="SendBatch"/>,
/// which sends every 128 KiB.
/// </para>
/// </summary>
public readonly ref struct FlushDeferral
{
    private readonly FrameOutput _output;
    private readonly FrameOutput? _outer;
    private readonly int _depth;

    internal FlushDeferral(FrameOutput output)
    {
        _output = output;
        _outer = output.EnterDeferral(out _depth);
    }

    /// <summary>
    /// Flushes the deferred messages. Inside an inline handler of the same session, they are sent with the handler's reply.
    /// </summary>
    /// <exception cref="InvalidOperationException">The deferral has ended already, or another thread began it.</exception>
    public void Dispose() => _output.LeaveDeferral(_outer, _depth);
}
