namespace FastPort.Connections;

/// <summary>
/// Callbacks that wait for a connection's loop, in the order of their posts. <see cref="_gate"/> guards all fields but _running, which
/// belongs to the loop. Allocates only while the lists grow.
/// </summary>
internal sealed class PostedCalls
{
    /// <summary>Takes no callbacks; for all connections that have ended.</summary>
    public static readonly PostedCalls Ended = new() { _ended = true };

    private readonly Lock _gate = new();
    private List<(Action<object?> Callback, object? State)> _waiting = [];
    private List<(Action<object?> Callback, object? State)> _running = [];
    private bool _ended;

    /// <summary>Adds a callback; false after <see cref="End"/>.</summary>
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

    /// <summary>Runs the callbacks posted before this call, each without a context. Called on the loop.</summary>
    /// <param name="failed">Called with the exception of a callback; the other callbacks still run.</param>
    public void Run(Action<Exception> failed)
    {
        lock (_gate)
        {
            if (_waiting.Count == 0)
            {
                return;
            }

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

            NoContext.Restore();
        }

        _running.Clear();
    }

    /// <summary>Refuses further callbacks and runs the rest. Called on the loop, as its last step.</summary>
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
