using FastPort.Sessions;

namespace FastPort.Clients;

/// <summary>
/// The session that a client's requests may use, or why there is none. Thread-safe: <see cref="_gate"/> guards all fields, and nothing is
/// called under it. A session gets in only while none was ruled out, both under the lock: whoever ends the client either finds the session
/// here or keeps it from getting here.
/// </summary>
internal sealed class SessionSlot
{
    private readonly Lock _gate = new();

    // The sessions that were current and whose Disconnected is still to come, those that the server is leaving included.
    private readonly Dictionary<Session, TaskCompletionSource> _open = [];
    private TaskCompletionSource<Session> _ready = NewReady();
    private TaskCompletionSource _retired = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Session? _current;

    // Why requests do not wait for a session; null while they do.
    private (RequestFailure Failure, string Message)? _none;

    /// <summary>The session requests go to; null while there is none.</summary>
    public Session? Current => Volatile.Read(ref _current);

    /// <summary>The current session, or the next one's task.</summary>
    /// <exception cref="RequestFailedException">Nobody looks for one.</exception>
    public ValueTask<Session> GetAsync()
    {
        lock (_gate)
        {
            return _none is { } none ? throw new RequestFailedException(none.Failure, none.Message)
                : _current is { } current ? new ValueTask<Session>(current)
                : new ValueTask<Session>(_ready.Task);
        }
    }

    /// <summary>
    /// Makes the session current. Those who wait for it are told by the caller, through what is returned; null where none may enter.
    /// </summary>
    public TaskCompletionSource<Session>? TryEnter(Session session)
    {
        lock (_gate)
        {
            if (_none is not null)
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

    /// <summary>A session is looked for: requests wait for it. Does nothing after <see cref="End"/>.</summary>
    public void Expect()
    {
        lock (_gate)
        {
            if (_none is { Failure: RequestFailure.NotConnected })
            {
                _none = null;
                _ready = NewReady();
            }
        }
    }

    /// <summary>Nobody looks for a session until the next <see cref="Expect"/>: who waits for one fails, and so do new requests.</summary>
    public void Refuse(string message) => RuleOut(RequestFailure.NotConnected, message);

    /// <summary>
    /// There will be no session any more, whatever comes: who waits for one fails, and so do new requests. The first message given stays.
    /// </summary>
    public void End(string message) => RuleOut(RequestFailure.Closed, message);

    /// <summary>Whether <see cref="End"/> was called.</summary>
    public bool HasEnded
    {
        get
        {
            lock (_gate)
            {
                return _none is { Failure: RequestFailure.Closed };
            }
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

    private void RuleOut(RequestFailure failure, string message)
    {
        lock (_gate)
        {
            if (_none is { Failure: RequestFailure.Closed })
            {
                return;
            }

            _none = (failure, message);
            _ready.TrySetException(new RequestFailedException(failure, message));

            // Looked at, so that it is no unobserved exception where nobody waits.
            _ = _ready.Task.Exception;
        }
    }

    private static TaskCompletionSource<Session> NewReady() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
