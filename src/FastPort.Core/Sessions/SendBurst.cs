namespace FastPort.Sessions;

/// <summary>Messages that leave together; see <see cref="Session.BeginBurst"/>. Dispose it on the same thread, exactly once.</summary>
public readonly ref struct SendBurst
{
    private readonly FrameOutput _output;
    private readonly FrameOutput? _outer;

    internal SendBurst(FrameOutput output)
    {
        _output = output;
        _outer = output.EnterBurst();
    }

    /// <summary>Ends the burst and flushes what was sent in it.</summary>
    public void Dispose() => _output.LeaveBurst(_outer);
}
