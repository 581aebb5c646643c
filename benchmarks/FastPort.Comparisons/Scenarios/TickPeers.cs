using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Who reads and writes at a fixed time. One more candidate is one more entry of <see cref="All"/>.</summary>
internal sealed class TickPeers(ScenarioContext context)
{
    public const string CachingBridge = "FastPort -> bridge, 200 ms old -> FastPort";

    private readonly OpcUaPeers _peers = new(context);
    private readonly string _own = context.Bench.Programs.Find("benchmarks", "OpcUaPeer");

    public IReadOnlyList<TickCandidate> All =>
    [
        new(OpcUaPeers.FastPort, () => _peers.MissingSimulation() ?? _peers.MissingOwn())
        {
            Servers = [_ => _peers.Simulation()],
            Client = url =>
                [ProgramLocator.DotNetHost, _own, "ticks", "--endpoint", url, "--pki", _peers.Pki("client")],
        },
        new(OpcUaPeers.NodeClient, () => _peers.MissingSimulation() ?? _peers.MissingNode())
        {
            Servers = [_ => _peers.Simulation()],
            Client = url =>
                ["node", _peers.NodeProgram("opcua-ticks.mjs"), _peers.Pki("node-client"), url],
        },
        Bridged(OpcUaPeers.FastPortBridged, maxAge: 0),
        Bridged(CachingBridge, maxAge: 200),
    ];

    // With an age the bridge has a group that is published every 50 ms.
    private TickCandidate Bridged(string name, int maxAge) =>
        new(name, () => _peers.MissingSimulation() ?? _peers.MissingOwn())
        {
            Servers = [_ => _peers.Simulation(), url => _peers.Bridge(url, isCaching: maxAge != 0)],
            Client = url =>
            [
                ProgramLocator.DotNetHost, _own, "ticks", "--endpoint", url, "--pki", _peers.Pki("client"),
                "--bridge-max-age", Invariant.Text(maxAge),
            ],
        };
}
