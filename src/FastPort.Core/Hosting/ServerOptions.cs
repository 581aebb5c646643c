using FastPort.Configuration;
using FastPort.Transports;
using FastPort.Transports.Epoll;
using FastPort.Transports.Unix;

namespace FastPort.Hosting;

/// <summary>What servers of every protocol have in common: where they listen, how many connections they let in, how long they take to
/// stop.</summary>
public abstract class ServerOptions
{
    private protected ServerOptions(string section) => Section = section;

    /// <summary>Where to listen: <c>tcp://</c>, <c>unix://</c> and <c>inproc://</c> URIs (<see cref="Endpoint"/>), and those of one's own
    /// transports and aliases.</summary>
    public IList<string> Endpoints { get; set; } = [];

    /// <summary>
    /// What carries TCP and Unix sockets, unless components bring transports. Defaults to <see cref="TransportKind.Auto"/>.
    /// </summary>
    public TransportKind Transport { get; set; } = TransportKind.Auto;

    /// <summary>Event loops of the Epoll transport; 0 to 256, 0 for one per core the process may use. Defaults to 0.</summary>
    public int Loops { get; set; }

    /// <summary>
    /// How long an event loop, or the server's end of an <c>inproc://</c> link, looks for work before it sleeps, in microseconds, 0 to
    /// 1,000,000. Defaults to null: adaptive
    /// (<see cref="EpollOptions.SpinMicroseconds"/>).
    /// </summary>
    public int? SpinMicroseconds { get; set; }

    /// <summary>Whether each event loop is bound to a core. Defaults to false.</summary>
    public bool PinLoops { get; set; }

    /// <summary>
    /// Connections in all; one more is closed at once and counted. 1 to 1,000,000. Defaults to 20,000. Fewer are let in where the process
    /// may not open
    /// as many descriptors, less what is open at the start and 64 kept for the process itself.
    /// </summary>
    public int MaxConnections { get; set; } = 20_000;

    /// <summary>
    /// Connections of one IP address, of an IPv6 network of 64 bits; 0 to 1,000,000, 0 for no such limit. Peers on Unix sockets have no
    /// address, so for them there is none. Defaults to null: a quarter of <see cref="MaxConnections"/>, and no limit for loopback
    /// addresses. A number holds for those too.
    /// </summary>
    public int? MaxConnectionsPerAddress { get; set; }

    /// <summary>
    /// Megabytes (2^20 bytes) for what all connections of this server hold: received messages that are not complete, requests that wait for
    /// their handlers, and bytes that wait to be sent; besides 64 KiB that each connection may always have for each of the three. 1 to
    /// 1,048,576. Defaults to null: a quarter of the memory that the garbage collector may use, which all servers of the process share
    /// that name no number.
    /// </summary>
    public int? MaxBufferedMegabytes { get; set; }

    /// <summary>
    /// Connections that may be in <see cref="ConnectionServerComponents.Stages"/> at a time; one more is closed at once and counted. 1 to
    /// 1,000,000. Defaults to 1,000.
    /// </summary>
    public int MaxConnectionsInStages { get; set; } = 1000;

    /// <summary>Time for all stages of a connection together; zero for no limit. Defaults to 10 s.</summary>
    public TimeSpan StageTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Permissions of the files that <c>unix:///path</c> endpoints make, octal as in <c>0660</c>: who may write to the file may connect.
    /// 0000 to 0777. Defaults
    /// to null: 0600, the server's own user alone. Not allowed together with an endpoint <c>unix://@name</c>, which has no permissions.
    /// </summary>
    public string? UnixSocketPermissions { get; set; }

    /// <summary>Time a stopping server gives its connections to finish before it aborts them; 0 to 1 hour. Defaults to 5 s.</summary>
    public TimeSpan ShutdownTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>The section that the options stand in, for sentences about them.</summary>
    internal string Section { get; set; }

    internal UnixFileMode? UnixFileMode =>
        UnixSocketPermissions is { } text && UnixPermissions.TryParse(text, out UnixFileMode mode) ? mode : null;

    /// <summary>Every problem as one sentence with key, value and allowed range; empty where all is well.</summary>
    public IReadOnlyList<string> Validate()
    {
        List<string> problems = [];
        OptionSection.Visit(Section, problems, configured: null, Describe);
        return problems;
    }

    internal virtual void Describe(OptionSection section)
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
        MaxConnections = section.Number(nameof(MaxConnections), MaxConnections, 1, 1_000_000);
        MaxConnectionsPerAddress = section.OptionalNumber(
            nameof(MaxConnectionsPerAddress), MaxConnectionsPerAddress, 0, 1_000_000, "allowed are 0 to 1000000");
        MaxBufferedMegabytes = section.OptionalNumber(
            nameof(MaxBufferedMegabytes), MaxBufferedMegabytes, 1, 1_048_576, "allowed are 1 to 1048576");
        MaxConnectionsInStages = section.Number(nameof(MaxConnectionsInStages), MaxConnectionsInStages, 1, 1_000_000);
        StageTimeout = section.Timeout(nameof(StageTimeout), StageTimeout);
        UnixSocketPermissions = section.Text(
            nameof(UnixSocketPermissions),
            UnixSocketPermissions,
            static text => text is null || UnixPermissions.TryParse(text, out _),
            "allowed are 0000 to 0777, octal");
        ShutdownTimeout = section.Time(
            nameof(ShutdownTimeout),
            ShutdownTimeout,
            static time => time >= TimeSpan.Zero && time <= TimeSpan.FromHours(1),
            "allowed are 00:00:00 to 01:00:00");
    }

    internal EpollOptions ToEpollOptions() => new() { Loops = Loops, SpinMicroseconds = SpinMicroseconds, PinLoops = PinLoops };
}
