using FastPort.Conformance.Adapters;

namespace FastPort.Conformance.Tests;

/// <summary>The adapters of the repository's clients: how each is started, and what this machine needs for it.</summary>
internal static class Clients
{
    private static readonly string Root = FindRoot();

    /// <summary>The folder with the solution.</summary>
    public static string Repository => Root;

    /// <summary>The .NET client within this process.</summary>
    public static IAdapter InProcess() => new InProcessAdapter();

    /// <summary>The .NET client in a process of its own.</summary>
    public static IAdapter DotNet() =>
        AdapterProcess.Start(["dotnet", Path.Combine(AppContext.BaseDirectory, "FastPort.Conformance.Adapter.dll")]);

    /// <summary>The TypeScript client in Node.js, or in Chromium.</summary>
    public static IAdapter TypeScript(string script) => Node(Path.Combine(Root, "clients", "typescript", "conformance", script));

    /// <summary>The peer that is written from docs/protocol.md.</summary>
    public static IAdapter NodePeer() => Node(Path.Combine(Root, "tests", "FastPort.Interop.Tests", "node", "conformance.mjs"));

    /// <summary>Why the clients in Node.js cannot run here; null if they can, or if the gate demands it.</summary>
    /// <param name="package">The folder of the script's packages.</param>
    /// <param name="file">What must be there.</param>
    /// <param name="advice">How to get it.</param>
    public static string? SkipReason(string package, string file, string advice) => PeerPrograms.SkipReason(
        PeerPrograms.Find("node") is null ? "Node.js is not on the path: install version 20 or later."
        : File.Exists(Path.Combine(Root, package, file)) ? null
        : $"{file} is missing in {package}: {advice}");

    private static AdapterProcess Node(string script) => AdapterProcess.Start([PeerPrograms.Find("node") ?? "node", script]);

    private static string FindRoot()
    {
        DirectoryInfo? root = new(AppContext.BaseDirectory);
        while (root is not null && !File.Exists(Path.Combine(root.FullName, "FastPort.sln")))
        {
            root = root.Parent;
        }

        return root?.FullName ?? throw new InvalidOperationException($"No FastPort.sln above {AppContext.BaseDirectory}.");
    }
}
