namespace FastPort.OpcUa.Client;

/// <summary>Provides requests with the active session, or lets them wait for the next one. Thread-safe.</summary>
internal sealed class LinkSlot
{
    private readonly Lock _gate = new();
    private TaskCompletionSource<SessionLink> _next = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private SessionLink? _current;

    /// <summary>The active session; null while there is none.</summary>
    public SessionLink? Current => Volatile.Read(ref _current);

    /// <summary>The active session, or the next one.</summary>
    /// <param name="after">A session whose connection has ended; null for none.</param>
    public Task<SessionLink> NextAsync(SessionLink? after)
    {
        lock (_gate)
        {
            return _current is not null && _current != after ? Task.FromResult(_current) : _next.Task;
        }
    }

    /// <summary>A session is active. False if the client was closed.</summary>
    public bool TryEnter(SessionLink link)
    {
        lock (_gate)
        {
            if (!_next.TrySetResult(link))
            {
                return false;
            }

            Volatile.Write(ref _current, link);
            _next = new(TaskCreationOptions.RunContinuationsAsynchronously);
            return true;
        }
    }

    /// <summary>The session's connection has ended.</summary>
    public void Leave()
    {
        lock (_gate)
        {
            Volatile.Write(ref _current, null);
        }
    }

    /// <summary>There will be no other session: requests fail from now on.</summary>
    /// <returns>The session that was active; null for none.</returns>
    public SessionLink? End(OpcUaException why)
    {
        lock (_gate)
        {
            SessionLink? last = _current;
            Volatile.Write(ref _current, null);
            _next.TrySetException(why);

            // There may be no waiter; the exception counts as observed.
            _ = _next.Task.Exception;
            return last;
        }
    }
}
