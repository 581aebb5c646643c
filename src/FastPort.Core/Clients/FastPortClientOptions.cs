using FastPort.Configuration;
using FastPort.Sessions;
using FastPort.Transports;
using FastPort.Transports.Epoll;

namespace FastPort.Clients;

/// <summary>
/// Options of a client; a host binds them from configuration section <c>FastPortClient</c>. Every value has a default and is checked when
/// the client is created.
/// </summary>
public sealed class FastPortClientOptions : IDescribedOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "FastPortClient";

    /// <summary>The server, as a URI. Defaults to <c>tcp://127.0.0.1:6628</c>.</summary>
    public string Endpoint { get; set; } = "tcp://127.0.0.1:6628";

    /// <summary>
    /// The transport of TCP and Unix sockets, unless the client gets a transport. With Epoll all clients of the process that have the same
    /// <see cref="Loops"/>, <see cref="SpinMicroseconds"/> and <see cref="PinLoops"/> share one set of event loops. Defaults to
    /// <see cref="TransportKind.Auto"/>.
    /// </summary>
    public TransportKind Transport { get; set; } = TransportKind.Auto;

    /// <summary>
    /// Event loops of the Epoll transport, each one thread; 0 to 256, 0 for one per core that the process may use. All clients with the
    /// same values here, in <see cref="SpinMicroseconds"/> and in <see cref="PinLoops"/> share the loops: a thousand such clients with 1
    /// use one thread. Each other combination of values uses its own loops and threads while it has connections, so give the clients of one
    /// process the same values. A transport passed to the client is not shared. Defaults to 0.
    /// </summary>
    public int Loops { get; set; }

    /// <summary>
    /// How long an event loop, or this end of an <c>inproc://</c> link, spins before it sleeps, in microseconds, 0 to 1,000,000. Defaults
    /// to null: adaptive (<see cref="EpollOptions.SpinMicroseconds"/>).
    /// </summary>
    public int? SpinMicroseconds { get; set; }

    /// <summary>
    /// Whether each event loop is pinned to a core: loop n to the n-th core that the process may use. The loops of a server in the same
    /// process with this option use the same cores. Defaults to false.
    /// </summary>
    public bool PinLoops { get; set; }

    /// <summary>Time for one attempt, from connecting to the server's Welcome; above 0. Defaults to 5 s.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Whether the first connect is retried, with the delays of reconnecting: <see cref="FastPortClient.ConnectAsync"/> then ends only with
    /// a session or by cancellation, and requests wait meanwhile. For programs that may start before their server. Defaults to false: one
    /// attempt, whose error is thrown.
    /// </summary>
    public bool RetryConnect { get; set; }

    /// <summary>
    /// Timeout of a request, including the wait for a connection, if the call has none; zero for no limit. Defaults to 30 s.
    /// </summary>
    public TimeSpan RequestTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Time a closing client waits for replies in flight. Defaults to 5 s.</summary>
    public TimeSpan CloseTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Routing id to request; empty for none. Defaults to empty.</summary>
    public string RoutingId { get; set; } = string.Empty;

    /// <summary>Token for the server's authenticator; empty for none. Defaults to empty.</summary>
    public string Token { get; set; } = string.Empty;

    /// <summary>The client's name in the server's logs and peer lists. Defaults to the process's name.</summary>
    public string ClientName { get; set; } = AppDomain.CurrentDomain.FriendlyName;

    /// <summary>
    /// Whether the client reconnects after a loss or the server's Goodbye, until it is closed; if false, the client ends with its first
    /// session. Defaults to true.
    /// </summary>
    public bool Reconnect { get; set; } = true;

    /// <summary>
    /// Delay before the second attempt to reconnect; the first has no delay. Doubles up to <see cref="MaxReconnectDelay"/>, with jitter.
    /// Defaults to 100 ms.
    /// </summary>
    public TimeSpan ReconnectDelay { get; set; } = TimeSpan.FromMilliseconds(100);

    /// <summary>Maximum delay between attempts. Defaults to 1 s.</summary>
    public TimeSpan MaxReconnectDelay { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Whether requests ask for timing blocks, which separate server time from network time. Defaults to false.</summary>
    public bool Timing { get; set; }

    /// <summary>Limits and deadlines of the session.</summary>
    public SessionOptions Session { get; } = new();

    /// <summary>Checks every value. Returns one sentence per problem, with key, value and allowed range; empty if there is none.</summary>
    public IReadOnlyList<string> Validate()
    {
        List<string> problems = [];
        OptionSection.Visit(SectionName, problems, configured: null, Describe);
        return problems;
    }

    /// <inheritdoc/>
    public void Describe(OptionSection section)
    {
        ArgumentNullException.ThrowIfNull(section);
        Endpoint = section.Text(nameof(Endpoint), Endpoint, static _ => true, string.Empty);
        if (!Transports.Endpoint.TryParse(Endpoint, out _, out string? problem))
        {
            section.Add(nameof(Endpoint), problem);
        }

        Transport = TransportSelection.Describe(section, nameof(Transport), Transport);
        Loops = EpollOptions.DescribeLoops(section, nameof(Loops), Loops);
        SpinMicroseconds = EpollOptions.DescribeSpin(section, nameof(SpinMicroseconds), SpinMicroseconds);
        PinLoops = section.Flag(nameof(PinLoops), PinLoops);
        ConnectTimeout = Positive(nameof(ConnectTimeout), ConnectTimeout);
        RetryConnect = section.Flag(nameof(RetryConnect), RetryConnect);
        Reconnect = section.Flag(nameof(Reconnect), Reconnect);
        ReconnectDelay = Positive(nameof(ReconnectDelay), ReconnectDelay);
        MaxReconnectDelay = section.Time(
            nameof(MaxReconnectDelay), MaxReconnectDelay, time =>
                time >= ReconnectDelay, $"allowed are values from ReconnectDelay ({ReconnectDelay:c}) upwards");
        RequestTimeout = section.Timeout(nameof(RequestTimeout), RequestTimeout);
        CloseTimeout = section.Timeout(nameof(CloseTimeout), CloseTimeout);
        RoutingId = Optional(nameof(RoutingId), RoutingId);
        Token = Optional(nameof(Token), Token);
        ClientName = Optional(nameof(ClientName), ClientName);
        Timing = section.Flag(nameof(Timing), Timing);
        section.Section(nameof(Session), Session.Describe);

        string Optional(string key, string value) =>
            section.Text(key, value, static text => text is not null, "give a text, empty for none");

        TimeSpan Positive(string key, TimeSpan value) =>
            section.Time(key, value, static time => time > TimeSpan.Zero, "allowed are values above 00:00:00");
    }

    internal EpollOptions ToEpollOptions() => new() { Loops = Loops, SpinMicroseconds = SpinMicroseconds, PinLoops = PinLoops };
}
