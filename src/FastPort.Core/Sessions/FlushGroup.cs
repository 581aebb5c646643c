using FastPort.Sessions.Sending;

namespace FastPort;

/// <summary>
/// Flushes messages to many sessions together: the messages that the calling thread sends until the group is disposed are passed to the
/// kernel with one call per session. For a program's threads that send to many sessions, such as a game's tick. It does nothing on a
/// session's loop, which groups flushes anyway. Dispose it on the thread that began it, before that thread awaits. Groups do not nest.
/// </summary>
public readonly ref struct FlushGroup
{
    private readonly HashSet<FrameOutput>? _outputs;

    private FlushGroup(HashSet<FrameOutput>? outputs) => _outputs = outputs;

    /// <summary>Begins a group.</summary>
    /// <exception cref="InvalidOperationException">This thread has begun a group that has not ended.</exception>
    public static FlushGroup Begin() => new(FrameOutput.BeginGroup());

    /// <summary>Flushes the messages.</summary>
    /// <exception cref="InvalidOperationException">The group has ended already, or another thread began it.</exception>
    public void Dispose() => FrameOutput.EndGroup(_outputs);
}
