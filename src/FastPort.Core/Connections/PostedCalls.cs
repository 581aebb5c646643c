namespace FastPort.Connections;

/// <summary>
/// Callbacks that wait for a connection's loop, in the order in which they were posted. <see cref="_gate"/> guards all but the list that is
/// being run, which is the loop's. Nothing is allocated once the lists have grown.
/// </summary>
internal sealed class PostedCalls
{
    private readonly Lock _gate = new();
    private List<(Action<object?> Callback, object? State)> _waiting = [];
    private List<(Action<object?> Callback, object? State)> _running = [];
    private bool _ended;

    /// <summary>Adds a callback. False after <see cref="End"/>.</summary>
    public bool TryAdd(Action<object?> callback, object? state)
    {
        lock (_gate)
        {
            if (_ended)
            {
                return false;
            }

            _waiting.Add((callback, state));
            return true;
        }
    }

    /// <summary>Runs what was posted before this call. On the loop.</summary>
    /// <param name="failed">Told what a callback threw; the others run all the same.</param>
    public void Run(Action<Exception> failed)
    {
        lock (_gate)
        {
            (_waiting, _running) = (_running, _waiting);
        }

        foreach ((Action<object?> callback, object? state) in _running)
        {
            try
            {
                callback(state);
            }
            catch (Exception e)
            {
                failed(e);
            }
        }

        _running.Clear();
    }

    /// <summary>Accepts no more and runs what is left. On the loop, as its last act.</summary>
    /// <inheritdoc cref="Run"/>
    public void End(Action<Exception> failed)
    {
        lock (_gate)
        {
            _ended = true;
        }

        Run(failed);
    }
}
