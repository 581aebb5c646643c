namespace FastPort.Comparisons.Processes;

/// <summary>What a run's processes stand on: the cores, a temporary folder, and the set that ends them all.</summary>
internal sealed class Workbench : IDisposable
{
    private int _paths;

    public Workbench(ProgramLocator programs, CpuPinning pinning)
    {
        Programs = programs;
        Pinning = pinning;
        TemporaryFolder = Directory.CreateTempSubdirectory("fastport-comparisons-").FullName;
    }

    public ProgramLocator Programs { get; }

    public CpuPinning Pinning { get; }

    public ChildProcessSet Children { get; } = new();

    public string TemporaryFolder { get; }

    /// <summary>A path in the temporary folder that was not given out before.</summary>
    public string NewPath(string name) => Path.Combine(TemporaryFolder, $"{++_paths}-{name}");

    /// <summary>Runs a program to its end.</summary>
    /// <param name="name">What messages call it.</param>
    /// <param name="command">Executable and arguments, pinned or not.</param>
    /// <param name="seconds">How long it may take.</param>
    /// <param name="cancellation">Ends it.</param>
    /// <returns>What it has written.</returns>
    /// <exception cref="ComparisonException">It did not end in time, or with an exit code other than 0.</exception>
    public async Task<string> RunAsync(string name, IReadOnlyList<string> command, double seconds, CancellationToken cancellation)
    {
        using ChildProcess run = Children.Start(command, TemporaryFolder);
        try
        {
            await run.WaitForExitAsync(cancellation).WaitAsync(TimeSpan.FromSeconds(seconds), cancellation);
        }
        catch (TimeoutException exception)
        {
            throw new ComparisonException($"{name} did not end within {seconds:0} s ({string.Join(' ', command)})", exception);
        }

        return run.ExitCode == 0 ? run.Output()
            : throw new ComparisonException($"{name} ended with exit code {run.ExitCode}: {run.Errors()}");
    }

    public void Dispose()
    {
        Children.Dispose();
        try
        {
            Directory.Delete(TemporaryFolder, recursive: true);
        }
        catch (IOException)
        {
            // A leftover in the system's temporary folder harms nobody.
        }
    }
}
