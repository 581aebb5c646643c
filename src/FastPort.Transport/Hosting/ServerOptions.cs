using FastPort.Configuration;
using FastPort.Connections;
using FastPort.Transports;
using FastPort.WebSockets;
using FastPort.Transports.Epoll;
using FastPort.Transports.Unix;
using Microsoft.Extensions.Logging;

namespace FastPort;

/// <summary>
/// Options common to servers of every protocol: endpoints, connection limits and the time for a stop.
/// </summary>
public abstract class ServerOptions : IDescribedOptions
{
    /// <summary>Creates options with default values.</summary>
    /// <param name="section">The section that messages about wrong values name, unless the options are read from another one.</param>
    protected ServerOptions(string section) => Section = section;

    /// <summary>
    /// The endpoints to listen on: <c>tcp://</c>, <c>tls://</c>, <c>unix://</c> and <c>inproc://</c> URIs (<see cref="Endpoint"/>), and
    /// those of custom transports and aliases.
    /// </summary>
    public IList<string> Endpoints { get; set; } = [];

    /// <summary>
    /// The transport for TCP and Unix sockets, unless components set transports. Defaults to <see cref="TransportKind.Auto"/>.
    /// </summary>
    public TransportKind Transport { get; set; } = TransportKind.Auto;

    /// <summary>Event loops of the Epoll transport; 0 to 256, 0 for one per core available to the process. Defaults to 0.</summary>
    public int Loops { get; set; }

    /// <summary>
    /// Time that an event loop, or the server's end of an <c>inproc://</c> link, spins before it sleeps, in microseconds, 0 to 1,000,000.
    /// Defaults to null: adaptive (<see cref="EpollOptions.SpinMicroseconds"/>).
    /// </summary>
    public int? SpinMicroseconds { get; set; }

    /// <summary>Whether each event loop is bound to a core. Defaults to false.</summary>
    public bool PinLoops { get; set; }

    /// <summary>
    /// Maximum number of connections. Further connections are closed at once and counted. 1 to 1,000,000. Defaults to null: 20,000. The
    /// limit is lower if the process may open fewer descriptors, less those open at the start and 64 reserved for the process itself; all
    /// servers of the process share these. A number above this limit is logged as a warning.
    /// </summary>
    public int? MaxConnections { get; set; }

    /// <summary>The number, or its default.</summary>
    internal int ConnectionLimit => MaxConnections ?? 20_000;

    /// <summary>
    /// Maximum number of connections per IP address, for IPv6 per /64 network; 0 to 1,000,000, 0 for no limit. Peers on Unix sockets have
    /// no address and no such limit. Defaults to null: a quarter of <see cref="MaxConnections"/>, or of what the descriptors allow, and no
    /// limit for loopback addresses. A number applies to loopback addresses too.
    /// </summary>
    public int? MaxConnectionsPerAddress { get; set; }

    /// <summary>
    /// Megabytes (2^20 bytes) that all connections of this server may hold: incomplete received messages, requests that wait for their
    /// handlers, and bytes that wait to be sent. For each of the three, 64 KiB per connection are not counted. 1 to 1,048,576. Defaults to
    /// null: a quarter of the memory available to the garbage collector, shared by all servers of the process that do not set this option.
    /// </summary>
    public int? MaxBufferedMegabytes { get; set; }

    /// <summary>
    /// Proxies whose connections begin with a PROXY header (version 1 or 2), as addresses (<c>10.0.0.1</c>), networks (<c>10.0.0.0/8</c>),
    /// and <c>unix</c> for all peers of Unix sockets. The client's address in the header is used from then on: in limits, logs and
    /// <see cref="Connections.Connection.RemoteEndPoint"/>. If the header contains no address, the client has the proxy's address; none,
    /// and no limit per address, if the proxy is on this machine. A connection from a proxy without a header is refused; the headers of
    /// other peers are not read. Defaults to none.
    /// </summary>
    public IList<string> TrustedProxies { get; set; } = [];

    /// <summary>
    /// Rates by address, by identity and in total. Servers of protocols other than FastPort's limit only connections per second, by address
    /// and in total.
    /// </summary>
    public RateOptions Rates { get; } = new();

    /// <summary>
    /// Certificates of the <c>tls://</c> and <c>wss://</c> endpoints, and the certificates that peers must present. A certificate that no
    /// such endpoint uses is refused.
    /// </summary>
    public TlsServerOptions Tls { get; } = new();

    /// <summary>
    /// Maximum number of connections in <see cref="ConnectionServerComponents.Stages"/> and in TLS handshakes at a time. Further
    /// connections are closed at once and counted. One address has at most a quarter of them, if <see cref="MaxConnectionsPerAddress"/>
    /// limits it. 1 to 1,000,000. Defaults to 1,000.
    /// </summary>
    public int MaxConnectionsInStages { get; set; } = 1000;

    /// <summary>Time for all stages of a connection together, its TLS handshake included; zero for no limit. Defaults to 10 s.</summary>
    public TimeSpan StageTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Permissions of the files that <c>unix:///path</c> endpoints create, octal as in <c>0660</c>: a user who may write to the file may
    /// connect. 0000 to 0777. Defaults to null: 0600, the server's own user only. Not allowed together with an endpoint
    /// <c>unix://@name</c>, which has no permissions.
    /// </summary>
    public string? UnixSocketPermissions { get; set; }

    /// <summary>
    /// Time from the beginning of a stop, when <see cref="ConnectionServer.IsStopping"/> and the health check turn, to the closing of the
    /// listeners: until then connections are accepted and served as before, so that a load balancer can take the server out first. 0 to 1
    /// hour. Defaults to 0.
    /// </summary>
    public TimeSpan DrainDelay { get; set; }

    /// <summary>Time that a stopping server waits for its connections before it aborts them; 0 to 1 hour. Defaults to 5 s.</summary>
    public TimeSpan ShutdownTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary><see cref="Endpoints"/>, or what stands in for none.</summary>
    internal virtual IList<string> ListenAt => Endpoints;

    /// <summary>What the protocol needs of WebSockets, and their options; null if it does not run on them.</summary>
    internal virtual (WebSocketProtocol Protocol, WebSocketServerOptions Options)? WebSockets => null;

    /// <summary>Whether the protocol has sessions with identities and messages that are counted.</summary>
    internal virtual bool HasSessions => false;

    /// <summary>The configuration path of the options, for messages.</summary>
    internal string Section { get; private set; }

    internal UnixFileMode? UnixFileMode =>
        UnixSocketPermissions is { } text && UnixPermissions.TryParse(text, out UnixFileMode mode) ? mode : null;

    /// <summary>All problems, one sentence each with key, value and allowed range; empty if there are none.</summary>
    public IReadOnlyList<string> Validate()
    {
        List<string> problems = [];
        OptionSection.Visit(Section, problems, configured: null, Describe);
        if (problems.Count == 0 && ListenAt.Count == 0)
        {
            problems.Add($"{Section}:{nameof(Endpoints)} is empty; give a list of URIs: {TransportSelection.Examples}.");
        }

        return problems;
    }

    void IDescribedOptions.Describe(OptionSection section) => Describe(section);

    internal virtual void Describe(OptionSection section)
    {
        Section = section.Path;
        Endpoints = section.List(nameof(Endpoints), Endpoints, $"give a list of URIs: {TransportSelection.Examples}");
        foreach (string endpoint in Endpoints)
        {
            if (!Endpoint.TryParse(endpoint, out _, out string? problem))
            {
                section.Add(nameof(Endpoints), problem);
            }
        }

        Transport = TransportSelection.Describe(section, nameof(Transport), Transport);
        Loops = EpollOptions.DescribeLoops(section, nameof(Loops), Loops);
        SpinMicroseconds = EpollOptions.DescribeSpin(section, nameof(SpinMicroseconds), SpinMicroseconds);
        PinLoops = section.Flag(nameof(PinLoops), PinLoops);
        MaxConnections = section.OptionalNumber(
            nameof(MaxConnections), MaxConnections, 1, 1_000_000, "allowed: 1 to 1000000");
        MaxConnectionsPerAddress = section.OptionalNumber(
            nameof(MaxConnectionsPerAddress), MaxConnectionsPerAddress, 0, 1_000_000, "allowed: 0 to 1000000");
        MaxBufferedMegabytes = section.OptionalNumber(
            nameof(MaxBufferedMegabytes), MaxBufferedMegabytes, 1, 1_048_576, "allowed: 1 to 1048576");
        TrustedProxies = section.List(nameof(TrustedProxies), TrustedProxies, Proxies.TrustedProxies.Allowed);
        foreach (string source in TrustedProxies.Where(static source => !Proxies.TrustedProxies.IsSource(source)))
        {
            section.Refuse(nameof(TrustedProxies), $"'{source}'", Proxies.TrustedProxies.Allowed);
        }

        section.Section(nameof(Rates), part => Rates.Describe(part, onlyConnections: !HasSessions));
        section.Section(nameof(Tls), Tls.Describe);
        MaxConnectionsInStages = section.Number(nameof(MaxConnectionsInStages), MaxConnectionsInStages, 1, 1_000_000);
        StageTimeout = section.Timeout(nameof(StageTimeout), StageTimeout);
        UnixSocketPermissions = section.Text(
            nameof(UnixSocketPermissions),
            UnixSocketPermissions,
            static text => text is null || UnixPermissions.TryParse(text, out _),
            "allowed: 0000 to 0777, octal");
        DrainDelay = section.Time(nameof(DrainDelay), DrainDelay, TimeSpan.Zero, TimeSpan.FromHours(1));
        ShutdownTimeout = section.Time(nameof(ShutdownTimeout), ShutdownTimeout, TimeSpan.Zero, TimeSpan.FromHours(1));
    }

    /// <summary>Limits and deadlines of each connection. Called once, when the server starts.</summary>
    /// <param name="clock">The server's clock.</param>
    /// <param name="logger">The server's logger.</param>
    protected internal virtual ConnectionSettings CreateSettings(ConnectionClock clock, ILogger logger) =>
        new() { Clock = clock, Logger = logger };

    // A certificate that no endpoint uses looks as if connections were encrypted. The authorities of clients' certificates have other uses.
    internal void RefuseUnusedTls(OptionSection section)
    {
        if (section.ChecksTogether && Tls.HasCertificate && !ListenAt.Any(IsEncrypted))
        {
            section.Refuse(
                nameof(Tls), "set, but no endpoint is tls:// or wss://", "give one, as tls://0.0.0.0:6628, or remove the section");
        }

        static bool IsEncrypted(string text) =>
            Endpoint.TryParse(text, out Endpoint? endpoint, out _) && LayeredSchemes.IsSecure(endpoint.Scheme);
    }

    internal EpollOptions ToEpollOptions() => new() { Loops = Loops, SpinMicroseconds = SpinMicroseconds, PinLoops = PinLoops };
}
