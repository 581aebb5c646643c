using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Scenarios;

/// <summary>What is asked of an OPC UA server.</summary>
/// <param name="Operation"><c>read</c>, <c>write</c> or <c>package</c>.</param>
/// <param name="Count">Tags of a request, or bytes of the package.</param>
/// <param name="Outstanding">Requests under way at a time.</param>
/// <param name="Policy">Name of the security policy; with SignAndEncrypt.</param>
internal sealed record OpcUaAsk(string Operation, int Count, int Outstanding, string Policy)
{
    public const string None = "None";

    public const string Secure = "Basic256Sha256";

    /// <summary>How long FastPort's loops look for work before they sleep; null for the engine's own choice.</summary>
    public int? SpinMicroseconds { get; init; }

    /// <summary>Clients, each with a session and a connection of its own; FastPort's only, without a bridge. Defaults to 1.</summary>
    public int Clients { get; init; } = 1;

    /// <summary>How old values may be that a bridge gives, in milliseconds. Defaults to 0: each comes from the server.</summary>
    public int BridgeMaxAge { get; init; }

    /// <summary>What is asked of tags, in words.</summary>
    public string TagsTitle => $"{(Operation == "read" ? "Read" : "Write")} of {Invariant.Text(Count)} tag{(Count == 1 ? "" : "s")}, "
        + $"{Outstanding} outstanding";

    public int Tags => Operation == "package" ? 0 : Count;

    public int PackageBytes => Operation == "package" ? Count : 0;
}

/// <summary>What is monitored.</summary>
/// <param name="Sessions">Sessions, each with a subscription to as many variables as the others.</param>
/// <param name="Count">Variables, an item each.</param>
/// <param name="Together">Variables that change at a time, one after the other.</param>
/// <param name="EveryMilliseconds">Time from one such change to the next.</param>
/// <param name="PublishingMilliseconds">Publishing interval.</param>
internal sealed record OpcUaItems(int Sessions, int Count, int Together, int EveryMilliseconds, int PublishingMilliseconds);

/// <summary>
/// Servers and clients of the OPC UA comparison: FastPort's (benchmarks/OpcUaPeer) and node-opcua's, whose programs lie beside the peers of
/// the interop tests, with their packages.
/// </summary>
/// <param name="context">The run.</param>
/// <param name="network">Where FastPort's server and its client lie apart; null for both on the machine's own network.</param>
internal sealed class OpcUaPeers(ScenarioContext context, NetworkPair? network = null)
{
    public const string FastPort = "FastPort -> FastPort";
    public const string FastPortBridged = "FastPort -> bridge -> FastPort";
    public const string NodeClient = "node-opcua -> FastPort";
    public const string NodeServer = "FastPort -> node-opcua";

    // Seconds. node-opcua's server has one thread: at many large Reads its values change seconds late.
    private const int BusyMaxAge = 30;

    // Seconds. The bridge leaves the server, which shares its core, little of it: on a busy machine values change late.
    private const int BridgedMaxAge = 5;

    private readonly string _assembly = context.Bench.Programs.Find("benchmarks", "OpcUaPeer");
    private readonly string _simulation = context.Bench.Programs.Find("src", "FastPort.OpcBridge");
    private readonly string _node = Path.Combine(context.Bench.Programs.Root, "tests", "FastPort.Interop.Tests", "node");

    /// <summary>FastPort on both ends.</summary>
    public IContestant Own(OpcUaAsk ask, IReadOnlyList<int> serverCores, IReadOnlyList<int> clientCores, string name = FastPort) =>
        new OpcUaPair([_ => OwnServer(ask, serverCores)], OwnClient(ask, clientCores), context) { Name = name };

    /// <summary>FastPort on both ends, and its bridge between them.</summary>
    public IContestant Bridged(OpcUaAsk ask, IReadOnlyList<int> serverCores, IReadOnlyList<int> clientCores) =>
        new OpcUaPair(
            [
                _ => OwnServer(ask, serverCores),
                url => Bridge(url, isCaching: ask.BridgeMaxAge > 0) with { Cores = serverCores },
            ],
            OwnClient(ask, clientCores, BridgedMaxAge),
            context)
        {
            Name = FastPortBridged,
        };

    /// <summary>A cold client of FastPort's server.</summary>
    public IContestant Cold(OpcUaAsk ask) => new ColdOpcUaClient(
        [_ => OwnServer(ask, context.Bench.Pinning.Server)], OwnClient(ask, context.Bench.Pinning.Client), context)
    {
        Name = ColdScenario.Client,
    };

    /// <summary>A cold client of tags, which a bridge has.</summary>
    public IContestant ColdBridged(OpcUaAsk ask) => new ColdOpcUaClient(
        [
            _ => OwnServer(ask, context.Bench.Pinning.Server),
            url => Bridge(url, isCaching: true) with { Cores = context.Bench.Pinning.Server },
        ],
        OwnClient(ask, context.Bench.Pinning.Client, BridgedMaxAge),
        context)
    {
        Name = ColdScenario.Client,
    };

    /// <summary>Many sessions of the bridge that read the same tags at the same rate.</summary>
    public IContestant Sharing() => new OpcUaPair(
        [
            _ => OwnServer(new OpcUaAsk("read", 1, 1, OpcUaAsk.None), context.Bench.Pinning.Server),
            url => Bridge(url, isCaching: false),
        ],
        new OpcUaClientCommand(
            chain =>
            [
                ProgramLocator.DotNetHost, _assembly, "sharing-client", "--endpoint", chain.Endpoint,
                "--server-pid", Invariant.Text(chain.Id), .. BridgeId(chain),
            ],
            MissingOwn)
        {
            Cores = context.Bench.Pinning.Client,
            TagsPerRequest = 100,
        },
        context)
    {
        Name = FastPortBridged,
    };

    /// <summary>FastPort's server under node-opcua's client.</summary>
    public IContestant UnderNode(OpcUaAsk ask, IReadOnlyList<int> serverCores, IReadOnlyList<int> clientCores) =>
        new OpcUaPair([_ => OwnServer(ask, serverCores)], ClientOfNode(ask, clientCores), context) { Name = NodeClient };

    /// <summary>node-opcua's server under FastPort's client.</summary>
    public IContestant AgainstNode(OpcUaAsk ask, IReadOnlyList<int> serverCores, IReadOnlyList<int> clientCores) =>
        new OpcUaPair([_ => ServerOfNode(ask, serverCores)], OwnClient(ask, clientCores, BusyMaxAge), context) { Name = NodeServer };

    /// <summary>Sessions that monitor a server's variables, of which some change at a time.</summary>
    public IContestant Monitoring(OpcUaItems items, IReadOnlyList<int> serverCores, IReadOnlyList<int> clientCores) => new OpcUaPair(
        [
            _ => new Candidate
            {
                Name = "FastPort",
                Command =
                [
                    ProgramLocator.DotNetHost, _assembly, "item-server", "--endpoint", "opc.tcp://127.0.0.1:0",
                    "--items", Invariant.Text(items.Count), "--together", Invariant.Text(items.Together),
                    "--every-ms", Invariant.Text(items.EveryMilliseconds),
                ],
                Missing = MissingOwn,
                Cores = serverCores,
            },
        ],
        new OpcUaClientCommand(
            chain =>
            [
                ProgramLocator.DotNetHost, _assembly, "item-client", "--endpoint", chain.Endpoint,
                "--sessions", Invariant.Text(items.Sessions), "--items", Invariant.Text(items.Count),
                "--publishing-ms", Invariant.Text(items.PublishingMilliseconds), "--server-pid", Invariant.Text(chain.Id),
            ],
            MissingOwn)
        {
            Cores = clientCores,
        },
        context)
    {
        Name = FastPort,
    };

    /// <summary>The simulation as it is shipped (src/FastPort.OpcBridge): its values change only when clients write them.</summary>
    public Candidate Simulation() => new()
    {
        Name = "FastPort",
        Command =
        [
            ProgramLocator.DotNetHost, _simulation, "simulate", "--listen", "opc.tcp://127.0.0.1:0", "--unsafe-trust-all",
            "--certificates", Pki("server"),
        ],
        Missing = MissingSimulation,
    };

    /// <summary>The bridge in front of FastPort's tags, with or without a group that is published every 50 ms.</summary>
    public Candidate Bridge(string url, bool isCaching)
    {
        const string Endpoint = "OpcBridge__Endpoints__simulation__";
        Candidate bridge = new Candidate
        {
            Name = "bridge",
            Command = [ProgramLocator.DotNetHost, _simulation, "--listen", "tcp://127.0.0.1:0"],
            Missing = MissingSimulation,
        }
            .With($"{Endpoint}EndpointUrl", url)
            .With($"{Endpoint}AllowWrite", "true")
            .With($"{Endpoint}Below__0", "nsu=urn:fastport:simulation;i=90000")
            .With($"{Endpoint}SecurityPolicy", OpcUaAsk.None)
            .With($"{Endpoint}Certificates__Directory", Pki("bridge"))
            .With($"{Endpoint}Certificates__UnsafeTrustAll", "true");
        return isCaching
            ? bridge.With($"{Endpoint}Group", "fast").With("OpcBridge__Groups__fast__PublishingInterval", "00:00:00.050")
            : bridge;
    }

    public string? MissingSimulation() => ProgramLocator.MissingAssembly("FastPort's OPC UA simulation", _simulation);

    /// <summary>A program of node-opcua's side.</summary>
    public string NodeProgram(string file) => Path.Combine(_node, "benchmarks", file);

    // What is written must stay until it has been checked.
    private static bool IsStill(OpcUaAsk ask) => ask.Operation == "write";

    private static string[] BridgeId(ServerChain chain) => chain.BridgeId is { } id ? ["--bridge-pid", Invariant.Text(id)] : [];

    private static string[] Spin(OpcUaAsk ask) => ask.SpinMicroseconds is { } spin ? ["--spin-us", Invariant.Text(spin)] : [];

    private Candidate OwnServer(OpcUaAsk ask, IReadOnlyList<int> cores) => new()
    {
        Name = "FastPort",
        Command =
        [
            .. network?.Server ?? [], ProgramLocator.DotNetHost, _assembly, "server",
            "--endpoint", $"opc.tcp://{(network is null ? "127.0.0.1" : NetworkPair.ServerAddress)}:0", "--pki", Pki("server"),
            .. IsStill(ask) ? (string[])["--still"] : [], .. Spin(ask),
        ],
        Missing = MissingOwn,
        Cores = cores,
    };

    private Candidate ServerOfNode(OpcUaAsk ask, IReadOnlyList<int> cores) => new()
    {
        Name = "node-opcua",
        Command =
        [
            "node", Path.Combine(_node, "benchmarks", "opcua-server.mjs"), Pki("node-server"), IsStill(ask) ? "still" : "changing",
        ],
        Missing = MissingNode,
        Cores = cores,
    };

    private OpcUaClientCommand OwnClient(OpcUaAsk ask, IReadOnlyList<int> cores, int maxAge = 1) => new(
        chain =>
        [
            .. network?.Client ?? [], ProgramLocator.DotNetHost, _assembly, "client", "--endpoint", chain.Endpoint,
            "--pki", Pki("client"), "--operation", ask.Operation, "--count", Invariant.Text(ask.Count),
            "--clients", Invariant.Text(ask.Clients), "--outstanding", Invariant.Text(ask.Outstanding), "--policy", ask.Policy,
            "--max-age", Invariant.Text(maxAge), "--server-pid", Invariant.Text(chain.Id), .. Spin(ask),
            .. BridgeId(chain), "--bridge-max-age", Invariant.Text(ask.BridgeMaxAge),
        ],
        MissingOwn)
    {
        Cores = cores,
        TagsPerRequest = ask.Tags,
        PackageBytes = ask.PackageBytes,
    };

    private OpcUaClientCommand ClientOfNode(OpcUaAsk ask, IReadOnlyList<int> cores) => new(
        chain =>
        [
            "node", Path.Combine(_node, "benchmarks", "opcua-client.mjs"), Pki("node-client"), chain.Endpoint, ask.Operation,
            Invariant.Text(ask.Count), Invariant.Text(ask.Outstanding), ask.Policy, Invariant.Text(chain.Id),
        ],
        MissingNode)
    {
        Cores = cores,
        TagsPerRequest = ask.Tags,
        PackageBytes = ask.PackageBytes,
    };

    // Made once a run, for all processes of a kind: making a key takes longer than some workloads.
    public string Pki(string name) => Path.Combine(context.Bench.TemporaryFolder, $"pki-{name}");

    public string? MissingOwn() => ProgramLocator.MissingAssembly("FastPort's OPC UA peer", _assembly);

    public string? MissingNode() =>
        ProgramLocator.FindTool("node") is null ? "node is missing: node-opcua cannot be compared with (Debian: apt install nodejs npm)"
        : !File.Exists(Path.Combine(_node, "node_modules", "node-opcua", "package.json"))
            ? "node-opcua is missing: run `npm ci` in tests/FastPort.Interop.Tests/node"
        : null;
}
