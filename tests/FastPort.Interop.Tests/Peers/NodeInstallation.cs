namespace FastPort.Interop.Tests.Peers;

/// <summary>Node.js and the packages of the peers, if they are there.</summary>
internal static class NodeInstallation
{
    /// <summary>The directory of the peers' scripts.</summary>
    public static string Directory { get; } = FindDirectory();

    /// <summary>The Node.js program; null where the path has none.</summary>
    public static string? Program { get; } = PeerPrograms.Find(OperatingSystem.IsWindows() ? "node.exe" : "node");

    /// <summary>What is missing and how to get it; null where nothing is.</summary>
    public static string? Problem { get; } = FindProblem();

    /// <summary>Why the tests are to be skipped; null where they run, as they always do in the gate (CI=true), be it to fail.</summary>
    public static string? SkipReason => PeerPrograms.SkipReason(Problem);

    private static string FindDirectory()
    {
        DirectoryInfo? root = new(AppContext.BaseDirectory);
        while (root is not null && !File.Exists(Path.Combine(root.FullName, "FastPort.sln")))
        {
            root = root.Parent;
        }

        return root is null
            ? throw new InvalidOperationException($"No FastPort.sln above {AppContext.BaseDirectory}.")
            : Path.Combine(root.FullName, "tests", "FastPort.Interop.Tests", "node");
    }

    private static string? FindProblem()
    {
        if (Program is null)
        {
            return $"Node.js is not on the path: install version 20 or later, then run `npm ci` in {Directory}.";
        }

        string[] packages = ["protobufjs", "hdr-histogram-js", "node-opcua", "uplot"];
        return Array.TrueForAll(packages, static package => File.Exists(Path.Combine(Directory, "node_modules", package, "package.json")))
            ? null
            : $"The peers' packages are not installed: run `npm ci` in {Directory}.";
    }
}
