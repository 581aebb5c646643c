using FastPort.Sessions.Sending;

namespace FastPort.Sessions;

/// <summary>
/// Messages to many sessions that the calling thread flushes together: what it sends until the burst is disposed goes to the kernel with
/// one call a session. For threads of a program's own that send to many sessions, such as a game's tick. On a session's loop it does
/// nothing, as a loop does so anyway. Dispose it on the thread that began it, before that thread awaits. Bursts do not nest.
/// </summary>
public readonly ref struct SendBurst
{
    private readonly List<FrameOutput>? _outputs;

    private SendBurst(List<FrameOutput>? outputs) => _outputs = outputs;

    /// <summary>Begins a burst.</summary>
    /// <exception cref="InvalidOperationException">This thread has begun one that has not ended.</exception>
    public static SendBurst Begin() => new(FrameOutput.BeginBurst());

    /// <summary>Flushes the messages.</summary>
    public void Dispose() => FrameOutput.EndBurst(_outputs);
}
