using FastPort.Configuration;
using FastPort.Sessions;
using FastPort.Transports;

namespace FastPort;

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

    /// <summary>
    /// Time a closing client waits for replies in flight; the end of its connection may take a second more. Zero for no wait. Defaults to
    /// 5 s.
    /// </summary>
    public TimeSpan CloseTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Routing id to request; empty for none. At most 256 UTF-16 units without control and format characters; the first is not <c>$</c>,
    /// which is reserved for the server. Defaults to empty.
    /// </summary>
    public string RoutingId { get; set; } = string.Empty;

    /// <summary>
    /// Token for the server's authenticator; empty for none. A client whose token the server refuses stops connecting. Set at most one of
    /// this, <see cref="TokenFile"/> and <see cref="TokenProvider"/>. Defaults to empty.
    /// </summary>
    public string Token { get; set; } = string.Empty;

    /// <summary>
    /// File with the token, read on each connection attempt, like <see cref="TokenProvider"/>. White space around the token is ignored.
    /// Defaults to empty: no file.
    /// </summary>
    public string TokenFile { get; set; } = string.Empty;

    /// <summary>
    /// Called on each connection attempt for the token, within <see cref="ClientOptions.ConnectTimeout"/>; empty for none. While it returns
    /// a token that the server has refused, the client does not connect and requests fail at once; the client calls it again, with the
    /// reconnect delays. An exception counts as a failed attempt. Not a configuration key. Defaults to null.
    /// </summary>
    public Func<CancellationToken, ValueTask<string>>? TokenProvider { get; set; }

    /// <summary>
    /// Whether a token may be sent over <c>tcp://</c> to another machine, where anyone on the path can read it. Defaults to false: such
    /// options are refused; use <c>tls://</c>.
    /// </summary>
    public bool AllowPlaintext { get; set; }

    /// <summary>
    /// The client's name in the server's logs and peer lists; at most 256 UTF-16 units without control and format characters. Defaults to
    /// the process's name.
    /// </summary>
    public string ClientName { get; set; } = AppDomain.CurrentDomain.FriendlyName;

    /// <summary>Whether requests ask for timing blocks, which separate server time from network time. Defaults to false.</summary>
    public bool Timing { get; set; }

    /// <summary>
    /// How the client checks the server of a <c>tls://</c> endpoint, and the certificate that it presents. Not allowed for other endpoints.
    /// </summary>
    public TlsClientOptions Tls { get; } = new();

    /// <summary>Limits and deadlines of the session.</summary>
    public SessionOptions Session { get; } = new();

    // Null is reported, but must not stop the checks.
    private int TokenSources =>
        (Token is { Length: > 0 } ? 1 : 0) + (TokenFile is { Length: > 0 } ? 1 : 0) + (TokenProvider is null ? 0 : 1);

    internal override void Describe(OptionSection section)
    {
        base.Describe(section);
        Endpoint = section.Text(nameof(Endpoint), Endpoint, static _ => true, string.Empty);
        if (!FastPort.Endpoint.TryParse(Endpoint, out Endpoint? endpoint, out string? problem))
        {
            section.Add(nameof(Endpoint), problem);
        }

        RequestTimeout = section.Timeout(nameof(RequestTimeout), RequestTimeout);
        CloseTimeout = section.Timeout(nameof(CloseTimeout), CloseTimeout);
        RoutingId = section.Text(
            nameof(RoutingId),
            RoutingId,
            static id => id is not null && RoutingIdLimits.IsName(id) && !id.StartsWith(RoutingIdLimits.ReservedMark),
            $"give {RoutingIdLimits.Name}, not beginning with '{RoutingIdLimits.ReservedMark}'; empty for none");
        Token = section.Secret(nameof(Token), Token, static text => text is null ? "give a string, empty for none" : null);
        TokenFile = section.Text(nameof(TokenFile), TokenFile, static text => text is not null, "give a string, empty for none");
        if (section.ChecksTogether && TokenSources > 1)
        {
            section.Add(nameof(Token), "more than one of Token, TokenFile and TokenProvider is set; keep one");
        }

        AllowPlaintext = section.Flag(nameof(AllowPlaintext), AllowPlaintext);
        if (section.ChecksTogether && TokenSources > 0 && !AllowPlaintext && endpoint is { Scheme: "tcp" or "ws", IsLoopback: false })
        {
            section.Add(
                nameof(Token),
                $"it would cross the network to {endpoint} unencrypted; use tls:// or wss://, or set AllowPlaintext to send it anyway");
        }

        ClientName = section.Text(
            nameof(ClientName),
            ClientName,
            static name => name is not null && RoutingIdLimits.IsName(name),
            $"give {RoutingIdLimits.Name}; empty for none");
        Timing = section.Flag(nameof(Timing), Timing);
        section.Section(nameof(Tls), Tls.Describe);
        if (section.ChecksTogether && Tls.IsGiven && endpoint is not null && !LayeredSchemes.IsSecure(endpoint.Scheme))
        {
            // The options look as if the connection were encrypted and the server checked.
            section.Refuse(
                nameof(Tls),
                "set, but the endpoint is not tls:// or wss://",
                "give one, as tls://127.0.0.1:6628, or remove the section");
        }

        section.Section(nameof(Session), Session.Describe);
    }
}
