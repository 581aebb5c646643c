using FastPort.Comparisons.Hostile;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Scenarios;

/// <summary>What is attacked: FastPort.Server with everything that section Security offers, and the OPC UA simulation.</summary>
internal sealed class HostileServers : IDisposable
{
    /// <summary>What the server's buffers may hold, and the simulation's.</summary>
    public const int BufferedMegabytes = 64;

    private const string Password = "a password that nobody guesses";

    // Each counts for this many, so 32 attackers may fill the server.
    private const int ConnectionsPerAddress = 5000;

    private static readonly TimeSpan ToolLimit = TimeSpan.FromSeconds(30);
    private static readonly Dictionary<string, string> NoEnvironment = new(StringComparer.Ordinal);

    private HostileServers(ListeningProcess server, ListeningProcess simulation, HostilePlan plan)
    {
        Server = server;
        Simulation = simulation;
        Plan = plan;
    }

    public ListeningProcess Server { get; }

    public ListeningProcess Simulation { get; }

    public HostilePlan Plan { get; }

    /// <summary>Makes certificates, users, keys and a policy, and starts both.</summary>
    public static async Task<HostileServers> StartAsync(
        ScenarioContext context, NetworkPair? networks, int idleConnections, double limitSeconds, CancellationToken cancellation)
    {
        Workbench bench = context.Bench;
        string program = bench.Programs.Find("src", "FastPort.Server");
        string bridge = bench.Programs.Find("src", "FastPort.OpcBridge");
        if ((ProgramLocator.MissingAssembly("FastPort.Server", program)
            ?? ProgramLocator.MissingAssembly("FastPort.OpcBridge", bridge)) is { } missing)
        {
            throw new ComparisonException(missing);
        }

        string host = networks is null ? "127.0.0.1" : NetworkPair.ServerAddress;
        string network = networks is null ? HostileAddresses.Loopback : NetworkPair.Network;
        string certificates = bench.NewPath("certificates"), users = bench.NewPath("users.txt");
        await RunAsync(bench, [ProgramLocator.DotNetHost, program, "certs", "create", certificates, "--name", host], "", cancellation);
        await RunAsync(
            bench, [ProgramLocator.DotNetHost, program, "users", "set", users, HostileUsers.Guest, "--role", HostileUsers.Guest],
            Password, cancellation);
        using var tokens = new HostileTokens();
        Dictionary<string, string> environment = new(StringComparer.Ordinal)
        {
            ["LatencyStats__OutputDirectory"] = Path.Combine(bench.TemporaryFolder, "Stats"),
            ["FastPort__MaxBufferedMegabytes"] = Invariant.Text(BufferedMegabytes),
            ["FastPort__MaxConnectionsPerAddress"] = Invariant.Text(ConnectionsPerAddress),
            ["FastPort__TrustedProxies__0"] = HostileAddresses.Of(network, HostileAddresses.Proxy),
            ["FastPort__Tls__CertificateFile"] = Path.Combine(certificates, "server.pem"),
            ["FastPort__Tls__KeyFile"] = Path.Combine(certificates, "server.key"),
            ["Security__UsersFile"] = users,
            ["Security__TokenKeysFile"] = Write(bench, "keys.pem", tokens.PublicKeyPem()),
            ["Security__PolicyFile"] = Write(bench, "policy.json", HostileUsers.Policy),
            ["Security__AuditFile"] = bench.NewPath("audit.jsonl"),
            ["Status__Access"] = "All",
        };
        ListeningProcess server = await ListeningProcess.StartAsync(
            "FastPort.Server", On(program, "--listen", $"tcp://{host}:0", "--listen", $"tls://{host}:0"), environment, 2, bench,
            cancellation);
        try
        {
            ListeningProcess simulation = await ListeningProcess.StartAsync(
                "the OPC UA simulation",
                On(
                    bridge, "simulate", "--listen", $"opc.tcp://{host}:0", "--max-message-mib", "16", "--security-policy", "None"),
                new Dictionary<string, string>(StringComparer.Ordinal)
                {
                    ["OpcUaServer__MaxBufferedMegabytes"] = Invariant.Text(BufferedMegabytes),
                },
                1,
                bench,
                cancellation);
            return new HostileServers(server, simulation, new HostilePlan
            {
                Host = host,
                TcpPort = server.Endpoints[0].Port,
                TlsPort = server.Endpoints[1].Port,
                OpcPort = simulation.Endpoints[0].Port,
                Network = network,
                IsOwnNetwork = networks is not null,
                AuthorityFile = Path.Combine(certificates, "ca.pem"),
                IdleConnections = idleConnections,
                Only = context.Options.Only,
                GoodToken = tokens.Good(HostileUsers.Good, HostileUsers.Good),
                GuestToken = HostileTokens.Basic(HostileUsers.Guest, Password),
                ReplayedTokens = tokens.Replayed(),
                ForgedTokens = tokens.Forged(),
                LimitSeconds = limitSeconds,
            });
        }
        catch
        {
            server.Dispose();
            throw;
        }

        IReadOnlyList<string> On(string assembly, params string[] arguments) =>
        [
            .. networks?.Server ?? [], .. bench.Pinning.On(bench.Pinning.Server, [ProgramLocator.DotNetHost, assembly, .. arguments]),
        ];
    }

    public void Dispose()
    {
        Server.Dispose();
        Simulation.Dispose();
    }

    private static string Write(Workbench bench, string name, string text)
    {
        string file = bench.NewPath(name);
        File.WriteAllText(file, text);
        return file;
    }

    private static async Task RunAsync(Workbench bench, IReadOnlyList<string> command, string input, CancellationToken cancellation)
    {
        using ChildProcess tool = bench.Children.Start(command, bench.TemporaryFolder, NoEnvironment);
        if (input.Length > 0)
        {
            await tool.WriteLineAsync(input);
        }

        tool.CloseInput();
        await tool.WaitForExitAsync(cancellation).WaitAsync(ToolLimit, cancellation);
        if (tool.ExitCode != 0)
        {
            throw new ComparisonException($"'{string.Join(' ', command)}' ended with exit code {tool.ExitCode}: {tool.Errors()}");
        }
    }
}
