using FastPort.Configuration;
using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Transports;
using FastPort.Transports.Epoll;
using FastPort.Transports.Unix;

namespace FastPort.Hosting;

/// <summary>Options of a server, bound from configuration section <c>FastPort</c>. Every value has a default and is checked at the start.</summary>
public sealed class FastPortServerOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "FastPort";

    /// <summary>Where to listen: <c>tcp://</c>, <c>unix://</c> and <c>inproc://</c> URIs (<see cref="Endpoint"/>). Defaults to none configured, which means <c>tcp://127.0.0.1:6628</c>.</summary>
    public IList<string> Endpoints { get; set; } = [];

    /// <summary>What carries TCP and Unix sockets, unless hooks bring transports. Defaults to <see cref="TransportKind.Auto"/>.</summary>
    public TransportKind Transport { get; set; } = TransportKind.Auto;

    /// <summary>Event loops of the Epoll transport; 0 to 256, 0 for one per core the process may use. Defaults to 0.</summary>
    public int Loops { get; set; }

    /// <summary>
    /// How long an event loop, or the server's end of an <c>inproc://</c> link, looks for work before it sleeps, in microseconds, 0 to 1,000,000. Defaults to null: adaptive
    /// (<see cref="EpollOptions.SpinMicroseconds"/>).
    /// </summary>
    public int? SpinMicroseconds { get; set; }

    /// <summary>Whether each event loop is bound to a core. Defaults to false.</summary>
    public bool PinLoops { get; set; }

    /// <summary>The server's name in Welcome. Defaults to <c>FastPort</c>.</summary>
    public string ServerName { get; set; } = "FastPort";

    /// <summary>
    /// Connections in all; one more is closed at once and counted. 1 to 1,000,000. Defaults to 20,000. Fewer are let in where the process may not open
    /// as many descriptors, less what is open at the start and 64 kept for the process itself.
    /// </summary>
    public int MaxConnections { get; set; } = 20_000;

    /// <summary>
    /// Connections of one IP address, of an IPv6 network of 64 bits; 0 to 1,000,000, 0 for no such limit. Peers on Unix sockets have no
    /// address, so for them
    /// there is none. Defaults to null: a quarter of <see cref="MaxConnections"/>, and no limit for loopback addresses. A number holds for
    /// those too.
    /// </summary>
    public int? MaxConnectionsPerAddress { get; set; }

    /// <summary>
    /// Connections that have not said Hello, where Hello is required (an authenticator, or <see cref="RequireRoutingId"/>); 0 to 1,000,000,
    /// 0 for no such limit.
    /// Elsewhere a connection may stay anonymous and this does not apply. Defaults to null: a quarter of <see cref="MaxConnections"/>.
    /// </summary>
    public int? MaxUnidentifiedConnections { get; set; }

    /// <summary>
    /// Megabytes (2^20 bytes) for the unfinished frames and the queued requests of all sessions of this server, besides 64 KiB that each
    /// session may always use for
    /// either; 1 to 1,048,576. Defaults to null: a quarter of the memory that the garbage collector may use.
    /// </summary>
    public int? MaxBufferedMegabytes { get; set; }

    /// <summary>
    /// Permissions of the files that <c>unix:///path</c> endpoints make, octal as in <c>0660</c>: who may write to the file may connect. 0000 to 0777. Defaults
    /// to null: 0600, the server's own user alone. Not allowed together with an endpoint <c>unix://@name</c>, which has no permissions.
    /// </summary>
    public string? UnixSocketPermissions { get; set; }

    /// <summary>
    /// Whether latencies are reported for each session too, besides all and each message type. Costs about 50 KB per session. Defaults to false.
    /// </summary>
    public bool MeasureSessions { get; set; }

    /// <summary>Whether a session has to say Hello with a routing id before anything else. Defaults to false.</summary>
    public bool RequireRoutingId { get; set; }

    /// <summary>What happens to a Hello with a routing id in use. Defaults to <see cref="DuplicateIdentityPolicy.Refuse"/>.</summary>
    public DuplicateIdentityPolicy DuplicateIdentity { get; set; } = DuplicateIdentityPolicy.Refuse;

    /// <summary>Time a stopping server gives requests in flight before it aborts them; 0 to 1 hour. Defaults to 5 s.</summary>
    public TimeSpan ShutdownTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Time a stopping server still takes requests that crossed its Goodbye on the way; 0 to <see cref="ShutdownTimeout"/>. A peer that answers with its own
    /// Goodbye ends it at once, so only peers that do not know Goodbye hold a stop up for so long. Defaults to 2 s: time for a client on a
    /// crowded machine to hear the Goodbye.
    /// </summary>
    public TimeSpan ShutdownGrace { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>Limits and deadlines of each session.</summary>
    public SessionOptions Session { get; } = new();

    /// <summary>What peers may ask the server to pass on: relays, topics, the list of peers.</summary>
    public RoutingOptions Routing { get; } = new();

    internal UnixFileMode? UnixFileMode =>
        UnixSocketPermissions is { } text && UnixPermissions.TryParse(text, out UnixFileMode mode) ? mode : null;

    /// <summary>Every problem as one sentence with key, value and allowed range; empty where all is well.</summary>
    public IReadOnlyList<string> Validate()
    {
        List<string> problems = [];
        OptionSection.Visit(SectionName, problems, configured: null, Describe);
        return problems;
    }

    internal void Describe(OptionSection section)
    {
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
        ServerName = section.Text(nameof(ServerName), ServerName, static name => !string.IsNullOrWhiteSpace(name), "give the server a name");
        MaxConnections = section.Number(nameof(MaxConnections), MaxConnections, 1, 1_000_000);
        MaxConnectionsPerAddress = section.OptionalNumber(
            nameof(MaxConnectionsPerAddress), MaxConnectionsPerAddress, 0, 1_000_000, "allowed are 0 to 1000000");
        MaxUnidentifiedConnections = section.OptionalNumber(
            nameof(MaxUnidentifiedConnections), MaxUnidentifiedConnections, 0, 1_000_000, "allowed are 0 to 1000000");
        MaxBufferedMegabytes = section.OptionalNumber(
            nameof(MaxBufferedMegabytes), MaxBufferedMegabytes, 1, 1_048_576, "allowed are 1 to 1048576");
        UnixSocketPermissions = section.Text(
            nameof(UnixSocketPermissions),
            UnixSocketPermissions,
            static text => text is null || UnixPermissions.TryParse(text, out _),
            "allowed are 0000 to 0777, octal");
        MeasureSessions = section.Flag(nameof(MeasureSessions), MeasureSessions);
        RequireRoutingId = section.Flag(nameof(RequireRoutingId), RequireRoutingId);
        DuplicateIdentity = section.Choice(nameof(DuplicateIdentity), DuplicateIdentity);
        ShutdownTimeout = section.Time(
            nameof(ShutdownTimeout),
            ShutdownTimeout,
            static time => time >= TimeSpan.Zero && time <= TimeSpan.FromHours(1),
            "allowed are 00:00:00 to 01:00:00");
        ShutdownGrace = section.Time(
            nameof(ShutdownGrace),
            ShutdownGrace,
            time => time >= TimeSpan.Zero && time <= ShutdownTimeout,
            $"allowed are 00:00:00 to ShutdownTimeout ({ShutdownTimeout:c})");
        section.Section(nameof(Session), Session.Describe);
        section.Section(nameof(Routing), Routing.Describe);
    }

    internal EpollOptions ToEpollOptions() => new() { Loops = Loops, SpinMicroseconds = SpinMicroseconds, PinLoops = PinLoops };
}
