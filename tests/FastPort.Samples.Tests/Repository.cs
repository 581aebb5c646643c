namespace FastPort.Samples.Tests;

/// <summary>Where the tests find the repository's files.</summary>
internal static class Repository
{
    /// <summary>The directory of FastPort.sln.</summary>
    public static string Root { get; } = FindRoot();

    /// <summary>The built program of a project, of the same configuration and framework as these tests.</summary>
    /// <param name="folder">The project's folder, from the root.</param>
    public static string Program(string folder)
    {
        var framework = new DirectoryInfo(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
        return Path.Combine(Root, folder, "bin", framework.Parent!.Name, framework.Name, Path.GetFileName(folder) + ".dll");
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
