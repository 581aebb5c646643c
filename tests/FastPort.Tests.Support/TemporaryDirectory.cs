namespace FastPort.Tests.Support;

/// <summary>A directory that goes with the test.</summary>
internal sealed class TemporaryDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("fastport-").FullName;

    public string this[string name] => System.IO.Path.Combine(Path, name);

    /// <summary>One that goes with the process: for what several tests share.</summary>
    public static TemporaryDirectory OfProcess()
    {
        var directory = new TemporaryDirectory();
        AppDomain.CurrentDomain.ProcessExit += (_, _) => directory.Dispose();
        return directory;
    }

    public void Dispose()
    {
        try
        {
            Directory.Delete(Path, recursive: true);
        }
        catch (IOException)
        {
            // A process that is ending still writes there. The system tidies up.
        }
    }
}
