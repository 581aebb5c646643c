using FastPort.Sessions.Lifecycle;

namespace FastPort.Sessions.Receiving;

/// <summary>
/// Counts a session's requests whose handlers have returned and whose answers come later. The loop begins them; any thread ends them.
/// </summary>
internal sealed class DetachedRequests(SessionEnd end, int max)
{
    private int _count;
    private TaskCompletionSource? _room;

    /// <summary>Whether one more request can be detached: they are bounded as queued requests are. Loop only.</summary>
    public bool HasRoom => Volatile.Read(ref _count) < max;

    /// <summary>Completes when there is room again. Loop only.</summary>
    public Task WhenRoomAsync()
    {
        // Published before the second check: either the thread that ends a request sees it, or this thread sees the room.
        var room = new TaskCompletionSource();
        Interlocked.Exchange(ref _room, room);
        if (HasRoom && Interlocked.Exchange(ref _room, null) is { } unseen)
        {
            unseen.SetResult();
        }

        return room.Task;
    }

    /// <summary>Loop only.</summary>
    public void Begin()
    {
        Interlocked.Increment(ref _count);
        end.BeginWork();
    }

    public void End()
    {
        Interlocked.Decrement(ref _count);
        Interlocked.Exchange(ref _room, null)?.SetResult();
        end.EndWork();
    }
}
