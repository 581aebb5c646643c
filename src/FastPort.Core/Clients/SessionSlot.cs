using FastPort.Sessions;

namespace FastPort.Clients;

/// <summary>
/// The session that a client's requests may use, or why there is none. Thread-safe: <see cref="_gate"/> guards all fields, and nothing is called
/// under it. A session gets in only while the slot has not ended, both under the lock: whoever ends it either finds the session here or
/// keeps it from getting here.
/// </summary>
internal sealed class SessionSlot
{
    private readonly Lock _gate = new();

    // The sessions that were current and whose Disconnected is still to come, those that the server is leaving included.
    private readonly Dictionary<Session, TaskCompletionSource> _open = [];
    private TaskCompletionSource<Session> _ready = NewReady();
    private TaskCompletionSource _retired = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Session? _current;
    private string? _ended;

    /// <summary>The session requests go to; null while there is none.</summary>
    public Session? Current => Volatile.Read(ref _current);

    /// <summary>The current session, or the next one's task.</summary>
    /// <exception cref="RequestFailedException">There will be none.</exception>
    public ValueTask<Session> GetAsync()
    {
        lock (_gate)
        {
            return _ended is not null ? throw new RequestFailedException(RequestFailure.Closed, _ended)
                : _current is { } current ? new ValueTask<Session>(current)
                : new ValueTask<Session>(_ready.Task);
        }
    }

    /// <summary>Makes the session current. Those who wait for it are told by the caller, through what is returned; null where the slot has ended.</summary>
    public TaskCompletionSource<Session>? TryEnter(Session session)
    {
        lock (_gate)
        {
            if (_ended is not null)
            {
                return null;
            }

            _current = session;
            _open.Add(session, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
            return _ready;
        }
    }

    /// <summary>The session takes no more requests: those to come wait for the next one.</summary>
    public void Retire(Session session)
    {
        lock (_gate)
        {
            if (ReferenceEquals(_current, session))
            {
                _current = null;
                _ready = NewReady();
                _retired.TrySetResult();
                _retired = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            }
        }
    }

    /// <summary>Completes when the session is not the current one.</summary>
    public Task WhenRetired(Session session)
    {
        lock (_gate)
        {
            return ReferenceEquals(_current, session) ? _retired.Task : Task.CompletedTask;
        }
    }

    /// <summary>No session gets in any more; who waits for one fails with the first message given.</summary>
    public void End(string message)
    {
        lock (_gate)
        {
            _ended ??= message;
            _ready.TrySetException(new RequestFailedException(RequestFailure.Closed, message));

            // Looked at, so that it is no unobserved exception where nobody waits.
            _ = _ready.Task.Exception;
        }
    }

    /// <summary>The sessions whose <see cref="Leave"/> is still to come, each with the task that ends then.</summary>
    public IReadOnlyList<(Session Session, Task Left)> Open()
    {
        lock (_gate)
        {
            return [.. _open.Select(static pair => (pair.Key, pair.Value.Task))];
        }
    }

    /// <summary>The session has ended and everybody was told.</summary>
    public void Leave(Session session)
    {
        TaskCompletionSource? left;
        lock (_gate)
        {
            _open.Remove(session, out left);
        }

        left!.SetResult();
    }

    private static TaskCompletionSource<Session> NewReady() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
