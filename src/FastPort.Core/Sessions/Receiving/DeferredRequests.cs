namespace FastPort.Sessions.Receiving;

/// <summary>Counts a session's requests whose handlers have returned and whose answers come later. On the loop.</summary>
internal sealed class DeferredRequests(FrameProtocol protocol)
{
    private int _count;
    private TaskCompletionSource? _room;

    /// <summary>Whether one more request can be deferred: they are bounded as queued requests are.</summary>
    public bool HasRoom => _count < protocol.Settings.Options.MaxInFlightRequests;

    /// <summary>Completes when there is room again, on the loop.</summary>
    public Task WhenRoomAsync() => (_room ??= new TaskCompletionSource()).Task;

    public void Begin()
    {
        _count++;
        protocol.Shutdown.BeginWork();
    }

    public void End()
    {
        _count--;
        if (_room is { } room)
        {
            _room = null;
            room.SetResult();
        }

        protocol.EndQueuedWork();
    }
}
