namespace FastPort.Samples.Tests;

/// <summary>Where the tests find the repository's files.</summary>
internal static class Repository
{
    /// <summary>The directory of FastPort.sln.</summary>
    public static string Root { get; } = FindRoot();

    /// <summary>The built program of a sample, of the same configuration and framework as these tests.</summary>
    public static string SampleProgram(string name)
    {
        var framework = new DirectoryInfo(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
        return Path.Combine(Root, "samples", name, "bin", framework.Parent!.Name, framework.Name, name + ".dll");
    }

    private static string FindRoot()
    {
        DirectoryInfo? directory = new(AppContext.BaseDirectory);
        while (directory is not null && !File.Exists(Path.Combine(directory.FullName, "FastPort.sln")))
        {
            directory = directory.Parent;
        }

        return directory?.FullName ?? throw new InvalidOperationException($"No FastPort.sln above {AppContext.BaseDirectory}.");
    }
}
