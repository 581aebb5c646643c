namespace FastPort.Clients;

/// <summary>
/// The session of a client's requests, or the reason why there is none. Thread-safe: <see cref="_gate"/> guards all fields, and no other
/// code is called under it. <see cref="TryEnter"/> and <see cref="End"/> both decide under the lock: the thread that ends the client either
/// finds the session here or prevents it from entering.
/// </summary>
internal sealed class SessionSlot
{
    private readonly Lock _gate = new();

    // The sessions that were current and whose Disconnected was not raised yet, including those after the server's Goodbye.
    private readonly Dictionary<Session, TaskCompletionSource> _open = [];
    private TaskCompletionSource<Session> _ready = NewReady();
    private TaskCompletionSource _retired = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Session? _current;
    private Session? _forRequests;
    private string? _lastFailure;

    // Why requests fail at once; null while they wait for a session.
    private (RequestFailure Failure, string Message)? _none =
        (RequestFailure.NotConnected, "The client is not connected: call ConnectAsync first.");

    /// <summary>The current session; null while there is none.</summary>
    public Session? Current => Volatile.Read(ref _current);

    /// <summary>As <see cref="GetAsync"/> without a wait or an exception: null if requests have to wait or fail.</summary>
    public Session? ForRequests => Volatile.Read(ref _forRequests);

    /// <summary>Why the last attempt to connect has failed; null if none has since there was a session.</summary>
    public string? LastFailure
    {
        get
        {
            lock (_gate)
            {
                return _lastFailure;
            }
        }
    }

    /// <summary>The current session, or the task of the next one.</summary>
    /// <exception cref="RequestFailedException">The client is not connecting, or has ended.</exception>
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
    /// Makes the session current. Returns the source that the caller completes to resume waiting requests; null if no session may enter.
    /// </summary>
    public TaskCompletionSource<Session>? TryEnter(Session session)
    {
        lock (_gate)
        {
            if (_none is not null)
            {
                return null;
            }

            _current = _forRequests = session;
            _lastFailure = null;
            _open.Add(session, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
            return _ready;
        }
    }

    /// <summary>Ends the use of a session: new requests wait for the next one.</summary>
    public void Retire(Session session)
    {
        lock (_gate)
        {
            if (ReferenceEquals(_current, session))
            {
                _current = _forRequests = null;
                _ready = NewReady();
                _retired.TrySetResult();
                _retired = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            }
        }
    }

    /// <summary>Completes when the session is no longer the current one.</summary>
    public Task WhenRetired(Session session)
    {
        lock (_gate)
        {
            return ReferenceEquals(_current, session) ? _retired.Task : Task.CompletedTask;
        }
    }

    /// <summary>The client is connecting: requests wait for the session. Ignored after <see cref="End"/>.</summary>
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

    /// <summary>An attempt to connect has failed, and there will be another: requests wait.</summary>
    public void Failed(string message)
    {
        lock (_gate)
        {
            _lastFailure = message;
        }
    }

    /// <summary>The client is not connecting until the next <see cref="Expect"/>: waiting and new requests fail.</summary>
    public void Refuse(string message) => RuleOut(RequestFailure.NotConnected, message);

    /// <summary>There will be no further session: waiting and new requests fail. The first message is kept.</summary>
    public void End(string message) => RuleOut(RequestFailure.Closed, message);

    /// <summary>Whether <see cref="End"/> was called.</summary>
    public bool HasEnded => WhyEnded is not null;

    /// <summary>Why there will be no further session; null before <see cref="End"/>.</summary>
    public string? WhyEnded
    {
        get
        {
            lock (_gate)
            {
                return _none is { Failure: RequestFailure.Closed } none ? none.Message : null;
            }
        }
    }

    /// <summary>The sessions before their <see cref="Leave"/>, each with the task that <see cref="Leave"/> completes.</summary>
    public IReadOnlyList<(Session Session, Task Left)> Open()
    {
        lock (_gate)
        {
            return [.. _open.Select(static pair => (pair.Key, pair.Value.Task))];
        }
    }

    /// <summary>The session has ended and Disconnected was raised.</summary>
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
            _forRequests = null;
            _ready.TrySetException(new RequestFailedException(failure, message));

            // Observe the exception: possibly no request waits for the task.
            _ = _ready.Task.Exception;
        }
    }

    private static TaskCompletionSource<Session> NewReady() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
