using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Measuring;

/// <summary>Callers that each await their reply, through the client of a library (benchmarks/ServicePeer).</summary>
/// <param name="bench">Cores and processes.</param>
/// <param name="library">The library, as ServicePeer names it.</param>
/// <param name="mode">What callers do, as ServicePeer names it.</param>
/// <param name="connections">Connections.</param>
/// <param name="callers">Callers on each.</param>
/// <param name="payloadBytes">Payload of a message.</param>
internal sealed class ServiceCallLoad(Workbench bench, string library, string mode, int connections, int callers, int payloadBytes)
    : ILoadProgram
{
    private readonly string _assembly = bench.Programs.Find("benchmarks", "ServicePeer");

    public IReadOnlyList<int> Cores => bench.Pinning.Client;

    public string? Missing() => ProgramLocator.MissingAssembly("ServicePeer", _assembly);

    public IReadOnlyList<string> Command(ServerProcess server, double leadIn, double seconds) =>
    [
        ProgramLocator.DotNetHost, _assembly, "load", library,
        "--endpoint", server.Endpoint,
        "--mode", mode,
        "--connections", Invariant.Text(connections),
        "--callers", Invariant.Text(callers),
        "--size", Invariant.Text(payloadBytes),
        "--warmup", Invariant.Text(leadIn),
        "--duration", Invariant.Text(seconds),
        "--server-pid", Invariant.Text(server.Id),
    ];
}
