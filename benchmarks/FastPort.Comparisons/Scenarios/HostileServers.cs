using FastPort.Comparisons.Candidates;
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

    // Attackers fill the default number with handshakes that never end: then nobody is let in, as the limit promises.
    private const int ConnectionsInStages = 4000;

    private static readonly TimeSpan ToolLimit = TimeSpan.FromSeconds(30);

    private HostileServers(ServerProcess server, ServerProcess simulation, HostilePlan plan)
    {
        Server = server;
        Simulation = simulation;
        Plan = plan;
    }

    public ServerProcess Server { get; }

    public ServerProcess Simulation { get; }

    public HostilePlan Plan { get; }

    /// <summary>Makes certificates, users, keys and a policy, and starts both.</summary>
    public static async Task<HostileServers> StartAsync(
        ScenarioContext context, NetworkPair? networks, int idleConnections, double limitSeconds, CancellationToken cancellation)
    {
        Workbench bench = context.Bench;
        string program = bench.Programs.Find("src", "FastPort.Server");
        string client = bench.Programs.Find("src", "FastPort.Client");
        string bridge = bench.Programs.Find("src", "FastPort.OpcBridge");
        if ((ProgramLocator.MissingAssembly("FastPort.Server", program)
            ?? ProgramLocator.MissingAssembly("FastPort.OpcBridge", bridge)) is { } missing)
        {
            throw new ComparisonException(missing);
        }

        string host = networks is null ? "127.0.0.1" : NetworkPair.ServerAddress;
        string network = networks is null ? HostileAddresses.Loopback : NetworkPair.Network;
        string certificates = bench.NewPath("certificates"), users = bench.NewPath("users.txt");
        await RunAsync(bench, [ProgramLocator.DotNetHost, client, "certs", "create", certificates, "--name", host], "", cancellation);
        await RunAsync(
            bench, [ProgramLocator.DotNetHost, client, "users", "set", users, HostileUsers.Guest, "--role", HostileUsers.Guest],
            Password, cancellation);
        using var tokens = new HostileTokens();
        Candidate attacked = Of("FastPort.Server", program, "--listen", $"tcp://{host}:0", "--listen", $"tls://{host}:0",
                "--listen", $"ws://{host}:0{HostilePlan.WebSocketPath}")
            .With("FastPort__MaxBufferedMegabytes", Invariant.Text(BufferedMegabytes))
            .With("FastPort__MaxConnectionsPerAddress", Invariant.Text(ConnectionsPerAddress))
            .With("FastPort__MaxConnectionsInStages", Invariant.Text(ConnectionsInStages))
            .With("FastPort__TrustedProxies__0", HostileAddresses.Of(network, HostileAddresses.Proxy))
            .With("FastPort__Tls__CertificateFile", Path.Combine(certificates, "server.pem"))
            .With("FastPort__Tls__KeyFile", Path.Combine(certificates, "server.key"))
            .With("Security__UsersFile", users)
            .With("Security__TokenKeysFile", Write(bench, "keys.pem", tokens.PublicKeyPem()))
            .With("Security__PolicyFile", Write(bench, "policy.json", HostileUsers.Policy))
            .With("Security__AuditFile", bench.NewPath("audit.jsonl"))
            .With("Status__Access", "All");
        Candidate simulated = Of(
                "the OPC UA simulation", bridge, "simulate", "--listen", $"opc.tcp://{host}:0", "--max-message-mib", "16",
                "--security-policy", "None")
            .With("OpcUaServer__MaxBufferedMegabytes", Invariant.Text(BufferedMegabytes));
        ServerProcess server = await ServerProcess.StartAsync(attacked, bench, cancellation, endpoints: 3);
        try
        {
            ServerProcess simulation = await ServerProcess.StartAsync(simulated, bench, cancellation);
            return new HostileServers(server, simulation, new HostilePlan
            {
                Host = host,
                TcpPort = new Uri(server.Endpoints[0]).Port,
                TlsPort = new Uri(server.Endpoints[1]).Port,
                WsPort = new Uri(server.Endpoints[2]).Port,
                OpcPort = new Uri(simulation.Endpoint).Port,
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

        Candidate Of(string name, string assembly, params string[] arguments) => new()
        {
            Name = name,
            Command = [.. networks?.Server ?? [], ProgramLocator.DotNetHost, assembly, .. arguments],
            Missing = () => ProgramLocator.MissingAssembly(name, assembly),
        };
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
        using ChildProcess tool = bench.Children.Start(command, bench.TemporaryFolder);
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
