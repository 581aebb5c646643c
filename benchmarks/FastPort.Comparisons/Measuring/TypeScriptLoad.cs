using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Measuring;

/// <summary>Callers in Node.js on one connection that each await their reply (benchmarks/TypeScriptPeer).</summary>
/// <param name="bench">Cores and processes.</param>
/// <param name="library">The library, as the program names it.</param>
/// <param name="inFlight">Callers.</param>
/// <param name="payloadBytes">Payload of a message.</param>
internal sealed class TypeScriptLoad(Workbench bench, string library, int inFlight, int payloadBytes) : ILoadProgram
{
    public IReadOnlyList<int> Cores => bench.Pinning.Client;

    /// <summary>A program of the folder.</summary>
    public static string Program(Workbench bench, string file) =>
        Path.Combine(bench.Programs.Root, "benchmarks", "TypeScriptPeer", file);

    /// <summary>Why no program of the folder can be run, or null where they can.</summary>
    public static string? MissingFor(Workbench bench)
    {
        if (ProgramLocator.FindTool("node") is null)
        {
            return "node is missing: the TypeScript client cannot be measured (Debian: apt install nodejs npm)";
        }

        return !File.Exists(Path.Combine(bench.Programs.Root, "clients", "typescript", "dist", "index.js"))
                ? "the TypeScript client is not built: run `npm ci && npm run build` in clients/typescript"
            : !Directory.Exists(Program(bench, Path.Combine("node_modules", "socket.io")))
                ? "socket.io is missing: run `npm ci` in benchmarks/TypeScriptPeer"
            : null;
    }

    public string? Missing() => MissingFor(bench);

    public IReadOnlyList<string> Command(ServerProcess server, double leadIn, double seconds) =>
    [
        "node", Program(bench, "load.mjs"), library,
        "--endpoint", server.Endpoint,
        "--in-flight", Invariant.Text(inFlight),
        "--size", Invariant.Text(payloadBytes),
        "--warmup", Invariant.Text(leadIn),
        "--duration", Invariant.Text(seconds),
        "--server-pid", Invariant.Text(server.Id),
    ];
}
