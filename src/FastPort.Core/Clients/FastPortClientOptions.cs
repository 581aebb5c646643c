using FastPort.Configuration;
using FastPort.Sessions;

namespace FastPort.Clients;

/// <summary>
/// Options of a client; a host binds them from configuration section <c>FastPortClient</c>. Every value has a default and is checked when
/// the client is created.
/// </summary>
public sealed class FastPortClientOptions : ClientOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "FastPortClient";

    /// <summary>Creates options with default values.</summary>
    public FastPortClientOptions()
        : base(SectionName)
    {
    }

    /// <summary>The server, as a URI. Defaults to <c>tcp://127.0.0.1:6628</c>.</summary>
    public string Endpoint { get; set; } = "tcp://127.0.0.1:6628";

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

    /// <summary>Whether requests ask for timing blocks, which separate server time from network time. Defaults to false.</summary>
    public bool Timing { get; set; }

    /// <summary>Limits and deadlines of the session.</summary>
    public SessionOptions Session { get; } = new();

    /// <inheritdoc/>
    public override void Describe(OptionSection section)
    {
        ArgumentNullException.ThrowIfNull(section);
        base.Describe(section);
        Endpoint = section.Text(nameof(Endpoint), Endpoint, static _ => true, string.Empty);
        if (!Transports.Endpoint.TryParse(Endpoint, out _, out string? problem))
        {
            section.Add(nameof(Endpoint), problem);
        }

        RequestTimeout = section.Timeout(nameof(RequestTimeout), RequestTimeout);
        CloseTimeout = section.Timeout(nameof(CloseTimeout), CloseTimeout);
        RoutingId = Optional(nameof(RoutingId), RoutingId);
        Token = Optional(nameof(Token), Token);
        ClientName = Optional(nameof(ClientName), ClientName);
        Timing = section.Flag(nameof(Timing), Timing);
        section.Section(nameof(Session), Session.Describe);

        string Optional(string key, string value) =>
            section.Text(key, value, static text => text is not null, "give a text, empty for none");
    }
}
