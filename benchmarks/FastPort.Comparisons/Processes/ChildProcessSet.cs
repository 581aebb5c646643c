using System.Collections.Concurrent;

namespace FastPort.Comparisons.Processes;

/// <summary>
/// Every process this program has started and not yet ended. However the program ends (a run's end, an exception, Ctrl+C), what is in here
/// is ended first, each process through its own handle. Where the program is killed, Linux kills them (<c>setpriv</c> of util-linux asks it
/// to). Thread-safe.
/// </summary>
internal sealed class ChildProcessSet : IDisposable
{
    private readonly Lock _gate = new();
    private readonly HashSet<ChildProcess> _running = []; // guarded by _gate
    private bool _closed; // guarded by _gate

    // Linux kills a process when the thread that started it ends, and threads of the pool come and go: so one thread starts all, and lives
    // as long as the program.
    private readonly BlockingCollection<Task> _starts = [];
    private readonly string[] _endWithParent = ProgramLocator.FindTool("setpriv") is { } setpriv
        ? [setpriv, "--pdeathsig", "KILL", "--"]
        : [];

    public ChildProcessSet()
    {
        AppDomain.CurrentDomain.ProcessExit += OnProcessExit;
        new Thread(RunStarts) { IsBackground = true, Name = "process starter" }.Start();
    }

    /// <summary>Starts a process; its lines of output go to <paramref name="onOutput"/>, or are kept where that is null.</summary>
    public ChildProcess Start(
        IReadOnlyList<string> command,
        string workingDirectory,
        IReadOnlyDictionary<string, string>? environment = null,
        Action<string>? onOutput = null)
    {
        // Under the gate, so that no process can start after the last one was ended.
        lock (_gate)
        {
            if (_closed)
            {
                throw new ComparisonException($"{command[0]} was not started: the program is ending");
            }

            var start = new Task<ChildProcess>(
                () => new ChildProcess([.. _endWithParent, .. command], workingDirectory, environment, onOutput, Forget));
            _starts.Add(start);
            ChildProcess process = start.GetAwaiter().GetResult();
            _running.Add(process);
            return process;
        }
    }

    public void Dispose()
    {
        AppDomain.CurrentDomain.ProcessExit -= OnProcessExit;
        EndAll();
    }

    private void RunStarts()
    {
        foreach (Task start in _starts.GetConsumingEnumerable())
        {
            start.RunSynchronously();
        }
    }

    private void OnProcessExit(object? sender, EventArgs e) => EndAll();

    private void Forget(ChildProcess process)
    {
        lock (_gate)
        {
            _running.Remove(process);
        }
    }

    private void EndAll()
    {
        ChildProcess[] left;
        lock (_gate)
        {
            _closed = true;
            left = [.. _running];
        }

        foreach (ChildProcess process in left)
        {
            process.Dispose();
        }
    }
}
