using FastPort.Configuration;
using FastPort.Framing;
using FastPort.WebSockets;

namespace FastPort;

/// <summary>
/// Options of a server, bound from configuration section <c>FastPort</c>. Every value has a default and is validated at the start.
/// </summary>
public sealed class FastPortServerOptions : ServerOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "FastPort";

    /// <summary>
    /// Creates options with default values. Without <see cref="ServerOptions.Endpoints"/> the server listens on
    /// <c>tcp://127.0.0.1:6628</c>.
    /// </summary>
    public FastPortServerOptions()
        : base(SectionName)
    {
    }

    /// <summary>The server's name in Welcome. Defaults to <c>FastPort</c>.</summary>
    public string ServerName { get; set; } = "FastPort";

    /// <summary>
    /// Maximum number of connections that have not said Hello, if Hello is required (an authenticator, or <see cref="RequireRoutingId"/>);
    /// 0 to 1,000,000, 0 for no limit. Ignored if Hello is not required. Defaults to null: half of
    /// <see cref="ServerOptions.MaxConnections"/>, or of what the descriptors allow: twice what one address may have.
    /// </summary>
    public int? MaxUnidentifiedConnections { get; set; }

    /// <summary>
    /// Whether latencies are also measured for each session, in addition to the total and each message type. Costs about 50 KB per session.
    /// In a host it switches measuring on; without one it needs <see cref="FastPortServerComponents.LatencyStats"/>. Defaults to false.
    /// </summary>
    public bool MeasureSessions { get; set; }

    /// <summary>
    /// Whether the server refuses to start if an endpoint can be reached from other machines unencrypted, or by peers that need not
    /// authenticate. Defaults to false: it warns (event 3009).
    /// </summary>
    public bool RequireSecureDefaults { get; set; }

    /// <summary>Whether a session must say Hello with a routing id before any other message. Defaults to false.</summary>
    public bool RequireRoutingId { get; set; }

    /// <summary>What happens if a Hello requests a routing id in use. Defaults to <see cref="DuplicateIdentityPolicy.Refuse"/>.</summary>
    public DuplicateIdentityPolicy DuplicateIdentity { get; set; } = DuplicateIdentityPolicy.Refuse;

    /// <summary>
    /// Time in which a stopping server still accepts requests that crossed its Goodbye; 0 to <see cref="ServerOptions.ShutdownTimeout"/>. A
    /// peer that answers with its own Goodbye ends it at once, so only peers that do not know Goodbye delay a stop for the whole time, and
    /// open streams, which may end by themselves until then.
    /// Defaults to 2 s, enough for a client on a busy machine to read the Goodbye.
    /// </summary>
    public TimeSpan ShutdownGrace { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>Limits and deadlines of each session.</summary>
    public SessionOptions Session { get; } = new();

    /// <summary>The routing services for peers: relays, topics, the list of peers.</summary>
    public RoutingOptions Routing { get; } = new();

    /// <summary>Which web pages may connect to the <c>ws://</c> and <c>wss://</c> endpoints.</summary>
    public WebSocketServerOptions WebSocket { get; } = new();

    internal override IList<string> ListenAt => Endpoints.Count == 0 ? ["tcp://127.0.0.1:6628"] : Endpoints;

    internal override bool HasSessions => true;

    internal override (WebSocketProtocol Protocol, WebSocketServerOptions Options)? WebSockets => (FrameWebSocket.Protocol, WebSocket);

    internal override void Describe(OptionSection section)
    {
        base.Describe(section);
        RefuseUnusedTls(section);
        section.Section(nameof(WebSocket), WebSocket.Describe);
        ServerName = section.Text(
            nameof(ServerName), ServerName, static name => !string.IsNullOrWhiteSpace(name), "give the server a name");
        MaxUnidentifiedConnections = section.OptionalNumber(
            nameof(MaxUnidentifiedConnections), MaxUnidentifiedConnections, 0, 1_000_000, "allowed: 0 to 1000000");
        MeasureSessions = section.Flag(nameof(MeasureSessions), MeasureSessions);
        RequireSecureDefaults = section.Flag(nameof(RequireSecureDefaults), RequireSecureDefaults);
        RequireRoutingId = section.Flag(nameof(RequireRoutingId), RequireRoutingId);
        DuplicateIdentity = section.Choice(nameof(DuplicateIdentity), DuplicateIdentity);
        ShutdownGrace = section.Time(
            nameof(ShutdownGrace),
            ShutdownGrace,
            time => time >= TimeSpan.Zero && (!section.ChecksTogether || time <= ShutdownTimeout),
            $"allowed: 00:00:00 to ShutdownTimeout ({ShutdownTimeout:c})");
        section.Section(nameof(Session), Session.Describe);
        section.Section(nameof(Routing), Routing.Describe);
        section.Allow("Backplane");
    }
}
