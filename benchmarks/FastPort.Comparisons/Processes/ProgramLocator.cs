namespace FastPort.Comparisons.Processes;

/// <summary>Finds the repository and the programs built in it, in the configuration this program was built in.</summary>
internal sealed class ProgramLocator
{
    private readonly string _configuration;
    private readonly string _framework;

    private ProgramLocator(string root, string configuration, string framework)
    {
        Root = root;
        _configuration = configuration;
        _framework = framework;
    }

    /// <summary>The program that runs .NET assemblies.</summary>
    public static string DotNetHost => Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") is { Length: > 0 } host ? host : "dotnet";

    /// <summary>The repository's top folder.</summary>
    public string Root { get; }

    public static ProgramLocator Create()
    {
        var output = new DirectoryInfo(Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory));
        for (DirectoryInfo? folder = output; folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "FastPort.sln")))
            {
                return new ProgramLocator(folder.FullName, output.Parent?.Name ?? "Release", output.Name);
            }
        }

        throw new ComparisonException(
            $"No folder above {output.FullName} holds FastPort.sln: run this program from its place in the repository.");
    }

    /// <summary>Another checkout, built in the same configuration as <paramref name="own"/>.</summary>
    /// <exception cref="ComparisonException">There is none.</exception>
    public static ProgramLocator At(string folder, ProgramLocator own)
    {
        string root = Path.GetFullPath(folder);
        return File.Exists(Path.Combine(root, "FastPort.sln"))
            ? new ProgramLocator(root, own._configuration, own._framework)
            : throw new ComparisonException($"{folder} is no checkout of FastPort: it holds no FastPort.sln.");
    }

    /// <summary>Where a project's assembly is built to.</summary>
    public string Find(string group, string project) =>
        Path.Combine(Root, group, project, "bin", _configuration, _framework, $"{project}.dll");

    /// <summary>Why a program that has not been built cannot be run; null where it can.</summary>
    public static string? MissingAssembly(string name, string assembly) =>
        File.Exists(assembly)
            ? null
            : $"{name} is missing: {Path.GetFileName(assembly)} has not been built in this program's configuration; build FastPort.sln";

    /// <summary>Full path of a tool on the search path, or null.</summary>
    public static string? FindTool(string name) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "")
        .Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
        .Select(folder => Path.Combine(folder, name))
        .FirstOrDefault(File.Exists);
}
