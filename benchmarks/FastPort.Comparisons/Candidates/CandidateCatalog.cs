using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Candidates;

/// <summary>How a raw server of the limit waits; the names are those of benchmarks/Native/echo_server.c.</summary>
internal enum RawWait
{
    /// <summary>Asleep in epoll_wait.</summary>
    Sleep,

    /// <summary>Asks epoll again and again.</summary>
    Epoll,

    /// <summary>Reads every socket again and again.</summary>
    Recv,

    /// <summary>A thread per connection, asleep in recv.</summary>
    Block,
}

/// <summary>The servers that can be compared.</summary>
internal sealed class CandidateCatalog(Workbench bench, NativePrograms native, ComparisonOptions options)
{
    /// <summary>Long enough to bridge every gap in a load, short enough to leave the core to others between runs.</summary>
    public const int SpinMicroseconds = 10_000;

    // Under which FastPort.Server offers its Queued echo.
    private const ushort QueuedType = 0x1001;

    private const string InlineCompletions = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";

    private const string AnyTcp = "tcp://127.0.0.1:0";

    /// <summary>FastPort.Server on the transport that is Linux's default.</summary>
    public Candidate FastPort => FastPortAt("FastPort", AnyTcp).With("FastPort__Transport", "Epoll");

    /// <summary>
    /// The same with the system's congestion control instead of its own choice for loopback: what it gains by that one, as its peers have
    /// the system's. Null where there is none to be read.
    /// </summary>
    public Candidate? FastPortSystemCongestion => MachineInfo.ReadCongestionControl() is { } name
        ? (FastPort with { Name = "FastPort, system's congestion control" }).With("FastPort__Session__CongestionControl", name)
        : null;

    /// <summary>The same on a Unix socket.</summary>
    public Candidate FastPortUnix =>
        FastPortAt("FastPort", $"unix://{bench.NewPath("fastport.sock")}").With("FastPort__Transport", "Epoll");

    /// <summary>FastPort.Server on the portable transport.</summary>
    public Candidate FastPortSockets => FastPortAt("FastPort (Sockets)", AnyTcp).With("FastPort__Transport", "Sockets");

    /// <summary>FastPort.Server, looking for work before it sleeps.</summary>
    public Candidate FastPortSpinning => Spinning(FastPort with { Name = "FastPort, spinning" });

    /// <summary>The same on a Unix socket.</summary>
    public Candidate FastPortUnixSpinning => Spinning(FastPortUnix with { Name = "FastPort, spinning" });

    /// <summary>FastPort.Server with its Queued echo.</summary>
    public Candidate FastPortQueued => FastPortAt("FastPort (Queued)", AnyTcp, "--queued-echo") with { MessageType = QueuedType };

    /// <summary>FastPort.Server that encrypts, and computes a handshake on each of its cores at a time, as Kestrel does.</summary>
    /// <param name="certificate">Its certificate.</param>
    public Candidate FastPortTls(TestCertificate certificate)
    {
        // The default leaves half of the cores to the sessions. Who is measured by handshakes gets what Kestrel's thread pool takes: all.
        int cores = Math.Max(1, bench.Pinning.Server.Count);
        return FastPortAt("FastPort", "tls://127.0.0.1:0")
            .With("FastPort__Transport", "Epoll")
            .With("FastPort__Tls__CertificateFile", certificate.CertificateFile)
            .With("FastPort__Tls__KeyFile", certificate.KeyFile)
            .With("FastPort__Tls__MaxConcurrentHandshakes", Invariant.Text(cores));
    }

    /// <summary>FastPort.Server that asks a policy about each message and counts rates of every kind, none of which is exceeded.</summary>
    /// <param name="policyFile">The policy.</param>
    public Candidate FastPortLimited(string policyFile)
    {
        Candidate limited = (FastPort with { Name = "FastPort, with rates and a policy" }).With("Security__PolicyFile", policyFile);
        foreach (string scope in (string[])["PerAddress", "PerIdentity", "Total"])
        {
            limited = limited
                .With($"FastPort__Rates__{scope}__ConnectionsPerSecond", "1000000")
                .With($"FastPort__Rates__{scope}__MessagesPerSecond", "1000000000")
                .With($"FastPort__Rates__{scope}__BytesPerSecond", "2000000000")
                .With($"FastPort__Rates__{scope}__LoopTimePercent", "10000");
        }

        return limited;
    }

    /// <summary>A Kestrel connection handler on System.IO.Pipelines.</summary>
    public Candidate Kestrel => DotNet("Kestrel", "benchmarks", "KestrelPeer", "0");

    /// <summary>
    /// The same with its handlers inline, on the thread that reads the sockets' events, and with the runtime's setting that goes with it:
    /// the documented counterpart of FastPort's inline handlers.
    /// </summary>
    public Candidate KestrelInline =>
        DotNet("Kestrel, inline", "benchmarks", "KestrelPeer", "0", "--inline").With(InlineCompletions, "1");

    /// <summary>The same handler behind Kestrel's HTTPS connection middleware.</summary>
    /// <param name="certificate">Its certificate.</param>
    public Candidate KestrelTls(TestCertificate certificate) =>
        DotNet("Kestrel", "benchmarks", "KestrelPeer", "0", certificate.CertificateFile, certificate.KeyFile);

    /// <summary>FastPort.Server with a WebSocket endpoint.</summary>
    public Candidate FastPortWebSocket =>
        FastPortAt("FastPort, WebSocket", "ws://127.0.0.1:0/echo").With("FastPort__Transport", "Epoll");

    /// <summary>ASP.NET Core's WebSockets middleware with a handler of the same frames.</summary>
    public Candidate KestrelWebSocket => DotNet("Kestrel, WebSocket", "benchmarks", "KestrelPeer", "0", "--websocket");

    /// <summary>The same with its handlers inline, as <see cref="KestrelInline"/>.</summary>
    public Candidate KestrelWebSocketInline =>
        DotNet("Kestrel, WebSocket, inline", "benchmarks", "KestrelPeer", "0", "--websocket", "--inline").With(InlineCompletions, "1");

    /// <summary>The same handler on WebSocket.CreateFromStream over the runtime's sockets, without a web server.</summary>
    public Candidate WebSocketFromStream => DotNet("CreateFromStream", "benchmarks", "SocketPeer", "--websocket");

    /// <summary>The same with inline completions.</summary>
    public Candidate WebSocketFromStreamInline =>
        (WebSocketFromStream with { Name = "CreateFromStream, inline" }).With(InlineCompletions, "1");

    /// <summary>A service of FastPort, for the clients of ServicePeer.</summary>
    public Candidate FastPortService => DotNet("FastPort", "benchmarks", "ServicePeer", "serve", "fastport");

    /// <summary>Grpc.AspNetCore on Kestrel, HTTP/2 without TLS. For its own client only.</summary>
    public Candidate Grpc => DotNet("gRPC", "benchmarks", "ServicePeer", "serve", "grpc");

    /// <summary>StreamJsonRpc on TCP. For its own client only.</summary>
    public Candidate StreamJsonRpc => DotNet("StreamJsonRpc", "benchmarks", "ServicePeer", "serve", "json-rpc");

    /// <summary>A server in Node.js (benchmarks/TypeScriptPeer), for its own client only.</summary>
    /// <param name="name">Name in the tables.</param>
    /// <param name="library">The library, as the program names it.</param>
    public Candidate NodeServer(string name, string library) => new()
    {
        Name = name,
        Command = ["node", TypeScriptLoad.Program(bench, "server.mjs"), library],
        Missing = () => TypeScriptLoad.MissingFor(bench),
    };

    /// <summary>SocketAsyncEventArgs with the runtime's default completions, raw bytes.</summary>
    public Candidate SocketEvents => DotNet("SocketAsyncEventArgs raw", "benchmarks", "SocketPeer") with { RepliesAsSent = true };

    /// <summary>SocketAsyncEventArgs with inline completions, raw bytes.</summary>
    public Candidate SocketEventsInline =>
        (SocketEvents with { Name = "SocketAsyncEventArgs raw, inline" }).With(InlineCompletions, "1");

    /// <summary>The runtime's sockets without events, one thread that never sleeps, raw bytes.</summary>
    public Candidate SocketSpinning => DotNet("Socket raw, spinning", "benchmarks", "SocketPeer", "--spin") with { RepliesAsSent = true };

    /// <summary>
    /// FastPort.Server on these cores with one loop, pinned to the first, and one time for which it looks for work before it sleeps.
    /// </summary>
    /// <param name="microseconds">The time; null for the default, which adapts.</param>
    /// <param name="cores">Cores.</param>
    public Candidate FastPortSpinningFor(int? microseconds, IReadOnlyList<int> cores)
    {
        Candidate candidate = (FastPort with { Cores = cores, Name = microseconds is null ? "default (adaptive)" : $"{microseconds} us" })
            .With("FastPort__Loops", "1")
            .With("FastPort__PinLoops", "true");
        return microseconds is { } time ? candidate.With("FastPort__SpinMicroseconds", Invariant.Text(time)) : candidate;
    }

    /// <summary>The servers named on the command line.</summary>
    public IReadOnlyList<Candidate> Others =>
        [.. options.Peers.Select(static peer => new Candidate { Name = peer.Name, Command = peer.Command, Missing = static () => null })];

    /// <summary>The raw echo in C: the limit.</summary>
    public Candidate Raw(string name, RawWait wait, bool unixSocket = false) => new()
    {
        Name = name,
        Command =
        [
            native.EchoServer, "--wait", wait.ToString().ToLowerInvariant(), "--listen", unixSocket
                ? $"unix://{bench.NewPath("raw.sock")}"
                : AnyTcp,
        ],
        Missing = () => native.Missing(native.EchoServer),
        IsManaged = false,
        RepliesAsSent = true,
    };

    private static Candidate Spinning(Candidate candidate) =>
        candidate.With("FastPort__SpinMicroseconds", Invariant.Text(SpinMicroseconds));

    private Candidate FastPortAt(string name, string endpoint, params string[] arguments) =>
        DotNet(name, "src", "FastPort.Server", ["--listen", endpoint, .. arguments]);

    private Candidate DotNet(string name, string group, string project, params string[] arguments)
    {
        string assembly = bench.Programs.Find(group, project);
        return new Candidate
        {
            Name = name,
            Command = [ProgramLocator.DotNetHost, assembly, .. arguments],
            Missing = () => ProgramLocator.MissingAssembly(name, assembly),
        };
    }
}
