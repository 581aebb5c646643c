using FastPort.Configuration;
using FastPort.Routing;
using FastPort.Sessions;

namespace FastPort.Hosting;

/// <summary>
/// Options of a server, bound from configuration section <c>FastPort</c>. Every value has a default and is checked at the start.
/// </summary>
public sealed class FastPortServerOptions : ServerOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "FastPort";

    /// <summary>Makes options with their defaults. Without <see cref="ServerOptions.Endpoints"/> a server listens at
    /// <c>tcp://127.0.0.1:6628</c>.</summary>
    public FastPortServerOptions()
        : base(SectionName)
    {
    }

    /// <summary>The server's name in Welcome. Defaults to <c>FastPort</c>.</summary>
    public string ServerName { get; set; } = "FastPort";

    /// <summary>
    /// Connections that have not said Hello, where Hello is required (an authenticator, or <see cref="RequireRoutingId"/>); 0 to 1,000,000,
    /// 0 for no such limit. Elsewhere a connection may stay anonymous and this does not apply. Defaults to null: a quarter of
    /// <see cref="ServerOptions.MaxConnections"/>.
    /// </summary>
    public int? MaxUnidentifiedConnections { get; set; }

    /// <summary>
    /// Whether latencies are reported for each session too, besides all and each message type. Costs about 50 KB per session. Defaults to
    /// false.
    /// </summary>
    public bool MeasureSessions { get; set; }

    /// <summary>Whether a session has to say Hello with a routing id before anything else. Defaults to false.</summary>
    public bool RequireRoutingId { get; set; }

    /// <summary>What happens to a Hello with a routing id in use. Defaults to <see cref="DuplicateIdentityPolicy.Refuse"/>.</summary>
    public DuplicateIdentityPolicy DuplicateIdentity { get; set; } = DuplicateIdentityPolicy.Refuse;

    /// <summary>
    /// Time a stopping server still takes requests that crossed its Goodbye on the way; 0 to <see cref="ServerOptions.ShutdownTimeout"/>.
    /// A peer that answers with its own
    /// Goodbye ends it at once, so only peers that do not know Goodbye hold a stop up for so long. Defaults to 2 s: time for a client on a
    /// crowded machine to hear the Goodbye.
    /// </summary>
    public TimeSpan ShutdownGrace { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>Limits and deadlines of each session.</summary>
    public SessionOptions Session { get; } = new();

    /// <summary>What peers may ask the server to pass on: relays, topics, the list of peers.</summary>
    public RoutingOptions Routing { get; } = new();

    internal override void Describe(OptionSection section)
    {
        base.Describe(section);
        ServerName = section.Text(
            nameof(ServerName), ServerName, static name => !string.IsNullOrWhiteSpace(name), "give the server a name");
        MaxUnidentifiedConnections = section.OptionalNumber(
            nameof(MaxUnidentifiedConnections), MaxUnidentifiedConnections, 0, 1_000_000, "allowed are 0 to 1000000");
        MeasureSessions = section.Flag(nameof(MeasureSessions), MeasureSessions);
        RequireRoutingId = section.Flag(nameof(RequireRoutingId), RequireRoutingId);
        DuplicateIdentity = section.Choice(nameof(DuplicateIdentity), DuplicateIdentity);
        ShutdownGrace = section.Time(
            nameof(ShutdownGrace),
            ShutdownGrace,
            time => time >= TimeSpan.Zero && time <= ShutdownTimeout,
            $"allowed are 00:00:00 to ShutdownTimeout ({ShutdownTimeout:c})");
        section.Section(nameof(Session), Session.Describe);
        section.Section(nameof(Routing), Routing.Describe);
    }
}
