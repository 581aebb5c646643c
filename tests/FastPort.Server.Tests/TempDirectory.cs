namespace FastPort.Server.Tests;

/// <summary>An empty directory that is deleted afterwards.</summary>
internal sealed class TempDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("fastport-test-").FullName;

    public void Dispose()
    {
        try
        {
            Directory.Delete(Path, recursive: true);
        }
        catch (IOException)
        {
            // Left to the system's own tidying.
        }
    }
}
