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
