namespace FastPort.Server.Tests;

/// <summary>A count that can be waited for. Thread-safe.</summary>
internal sealed class Tally
{
    // Guards both fields.
    private readonly Lock _gate = new();
    private readonly List<(int At, TaskCompletionSource Reached)> _waiting = [];
    private int _count;

    public int Count => Volatile.Read(ref _count);

    public void Add()
    {
        lock (_gate)
        {
            _count++;
            foreach ((_, TaskCompletionSource reached) in _waiting.Where(w => w.At == _count))
            {
                reached.SetResult();
            }
        }
    }

    /// <summary>Completes when so many more have been counted.</summary>
    public async Task MoreAsync(int more)
    {
        var reached = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            _waiting.Add((_count + more, reached));
        }

        await reached.Task.WaitAsync(ServerProcess.Limit);
    }
}
