using FastPort.Configuration;

namespace FastPort.Dashboard;

/// <summary>Options of the dashboard: the configuration section <c>Dashboard</c>.</summary>
public sealed class DashboardOptions : IDescribedOptions
{
    /// <summary>Name of the configuration section.</summary>
    public const string SectionName = "Dashboard";

    /// <summary>Shortest <see cref="Token"/>.</summary>
    internal const int MinTokenCharacters = 16;

    private const string UrlExample = "give http:// or https://, an address and a port, for example http://127.0.0.1:6680";

    /// <summary>
    /// The address on which the dashboard listens, such as <c>http://127.0.0.1:6680</c>; port 0 lets the system choose. An address that
    /// other machines can reach needs a <see cref="Token"/>. Defaults to empty: no dashboard.
    /// </summary>
    public string Url { get; set; } = string.Empty;

    /// <summary>
    /// The token that readers need, 16 to 256 visible ASCII characters. Browsers ask for it once; programs send it as <c>Authorization:
    /// Bearer</c>. Defaults to empty: anyone who can reach the address may read.
    /// </summary>
    public string Token { get; set; } = string.Empty;

    /// <summary>
    /// Host names by which requests may address the dashboard, in addition to localhost and IP addresses. Requests with another name in
    /// their Host header are refused: a web page can make a browser send them. Defaults to none.
    /// </summary>
    public IList<string> AllowedHosts { get; set; } = [];

    /// <summary>
    /// Whether readers with the token may close sessions, drain the server and change the log level. Needs a <see cref="Token"/>. Defaults
    /// to false.
    /// </summary>
    public bool AllowActions { get; set; }

    /// <summary>
    /// Where browsers reach the server's WebSocket endpoint, for the page of tags: a <c>ws://</c> or <c>wss://</c> URL, or the path at
    /// which the proxy that serves the dashboard passes it on, such as <c>/plant</c>. Defaults to empty: the server's own address.
    /// </summary>
    public string WebSocketUrl { get; set; } = string.Empty;

    /// <summary>Name of the server to show, as passed to <c>AddFastPort</c>. Defaults to empty: the server without a name.</summary>
    public string ServerName { get; set; } = string.Empty;

    /// <summary>Whether there is a dashboard.</summary>
    internal bool IsEnabled => Url.Length != 0;

    void IDescribedOptions.Describe(OptionSection section)
    {
        Url = section.Text(nameof(Url), Url, static url => url is "" || DashboardUrl.TryParse(url, out _), UrlExample);
        Token = section.Secret(
            nameof(Token),
            Token,
            static token => token is "" || IsToken(token)
                ? null
                : $"give {MinTokenCharacters} to 256 visible ASCII characters without spaces");
        AllowedHosts = section.List(nameof(AllowedHosts), AllowedHosts, "give a list of host names");
        AllowActions = section.Flag(nameof(AllowActions), AllowActions);
        WebSocketUrl = section.Text(
            nameof(WebSocketUrl),
            WebSocketUrl,
            static url => url is "" || IsWebSocketUrl(url),
            "give a URL such as wss://plant.example/tags, or a path that begins with a slash");
        ServerName = section.Text(nameof(ServerName), ServerName, static name => name is not null, "give the name of a server");

        // Kestrel reads and checks the keys of its certificate options itself.
        section.Section("Certificate", static certificate =>
        {
            foreach (string key in (string[])["Path", "KeyPath", "Subject", "Store", "Location"])
            {
                certificate.Text(key, null, static _ => true, "give a string");
            }

            certificate.Secret("Password", null, static _ => null);
            certificate.Flag("AllowInvalid", false);
        });
        if (DashboardUrl.TryParse(Url, out DashboardUrl? named) && named is { Host: "localhost", Port: 0 })
        {
            section.Add(
                nameof(Url), $"'{Url}' has a name and port 0; the system chooses ports of addresses only, as in http://127.0.0.1:0.");
        }

        if (section.ChecksTogether)
        {
            DescribeTogether(section);
        }
    }

    private void DescribeTogether(OptionSection section)
    {
        if (AllowActions && Token.Length == 0)
        {
            section.Add(nameof(AllowActions), "actions change the server and need a token; give one in Dashboard:Token.");
        }

        if (Token.Length == 0 && DashboardUrl.TryParse(Url, out DashboardUrl? url) && !url.IsLoopback)
        {
            section.Add(
                nameof(Url),
                $"'{Url}' can be reached from other machines, so the dashboard needs a token: give one in Dashboard:Token, or listen on "
                + $"http://127.0.0.1:{url.Port}.");
        }
    }

    private static bool IsWebSocketUrl(string? text) =>
        text is ['/', not '/', ..] or "/"
        || (Uri.TryCreate(text, UriKind.Absolute, out Uri? url) && url.Scheme is "ws" or "wss" && url.UserInfo.Length == 0
            && url.Fragment.Length == 0);

    private static bool IsToken(string? token) =>
        token is { Length: >= MinTokenCharacters and <= 256 } && token.AsSpan().IndexOfAnyExceptInRange('!', '~') < 0;
}
