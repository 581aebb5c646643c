using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Who reads and writes at a fixed time. One more candidate is one more entry of <see cref="All"/>.</summary>
internal sealed class TickPeers(ScenarioContext context)
{
    public const string Bridge = "FastPort -> bridge -> FastPort";
    public const string CachingBridge = "FastPort -> bridge, 200 ms old -> FastPort";

    private readonly OpcUaPeers _peers = new(context);
    private readonly string _own = context.Bench.Programs.Find("benchmarks", "OpcUaPeer");
    private readonly string _bridge = context.Bench.Programs.Find("src", "FastPort.OpcBridge");

    public IReadOnlyList<TickCandidate> All(TickSecurity security) =>
    [
        new(OpcUaPeers.FastPort, () => _peers.MissingSimulation() ?? _peers.MissingOwn())
        {
            Servers = [_ => _peers.Simulation()],
            Client = url =>
            [
                ProgramLocator.DotNetHost, _own, "ticks", "--endpoint", url, "--pki", _peers.Pki("client"),
                "--security", security.ToString(),
            ],
        },
        new(OpcUaPeers.NodeClient, () => _peers.MissingSimulation() ?? _peers.MissingNode())
        {
            Servers = [_ => _peers.Simulation()],
            Client = url =>
                ["node", _peers.NodeProgram("opcua-ticks.mjs"), _peers.Pki("node-client"), url, security.ToString()],
        },
        Bridged(Bridge, security, maxAge: 0),
        Bridged(CachingBridge, security, maxAge: 200),
    ];

    /// <summary>The bridge of a server of the simulation's tags.</summary>
    public Candidate BridgeOf(string url, TickSecurity security, bool isCaching)
    {
        const string Endpoint = "OpcBridge__Endpoints__simulation__";
        Candidate bridge = new Candidate
        {
            Name = "bridge",
            Command = [ProgramLocator.DotNetHost, _bridge, "--listen", "tcp://127.0.0.1:0"],
            Missing = _peers.MissingSimulation,
        }
            .With($"{Endpoint}EndpointUrl", url)
            .With($"{Endpoint}AllowWrite", "true")
            .With($"{Endpoint}Below__0", "nsu=urn:fastport:simulation;i=90000")
            .With($"{Endpoint}SecurityPolicy", security == TickSecurity.None ? "None" : "Basic256Sha256")
            .With($"{Endpoint}SecurityMode", security == TickSecurity.Sign ? "Sign" : "SignAndEncrypt")
            .With($"{Endpoint}Certificates__Directory", _peers.Pki("bridge"))
            .With($"{Endpoint}Certificates__UnsafeTrustAll", "true");
        return isCaching
            ? bridge.With($"{Endpoint}Group", "fast").With("OpcBridge__Groups__fast__PublishingInterval", "00:00:00.050")
            : bridge;
    }

    // With an age the bridge has a group that is published every 50 ms.
    private TickCandidate Bridged(string name, TickSecurity security, int maxAge) =>
        new(name, () => _peers.MissingSimulation() ?? _peers.MissingOwn())
        {
            Servers = [_ => _peers.Simulation(), url => BridgeOf(url, security, isCaching: maxAge != 0)],
            Client = url =>
            [
                ProgramLocator.DotNetHost, _own, "ticks", "--endpoint", url, "--pki", _peers.Pki("client"),
                "--bridge-max-age", Invariant.Text(maxAge),
            ],
        };
}
