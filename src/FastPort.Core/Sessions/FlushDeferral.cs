using FastPort.Sessions.Sending;

namespace FastPort.Sessions;

/// <summary>
/// Messages that leave together; see <see cref="Session.DeferFlush"/>. Dispose it on the same thread, exactly once.
/// <para>
/// It is flushed when it is disposed, and before that only where the send queue is full (<see cref="SessionOptions.SendQueueBytes"/>), not
/// at any size below. Where others send on the session meanwhile, what is there of it leaves with theirs. For a stream that goes on there
/// is <see cref="SendBatch"/>, which is sent every 128 KiB.
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
    /// Flushes what was sent meanwhile; inside an inline handler of the same session it leaves with the handler's reply.
    /// </summary>
    /// <exception cref="InvalidOperationException">It has ended already, or another thread began it.</exception>
    public void Dispose() => _output.LeaveDeferral(_outer, _depth);
}
