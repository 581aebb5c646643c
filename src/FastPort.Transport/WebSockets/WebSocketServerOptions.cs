using FastPort.Configuration;

namespace FastPort;

/// <summary>Options of the <c>ws://</c> and <c>wss://</c> endpoints of a server. Set them before the server is created.</summary>
public sealed class WebSocketServerOptions : IDescribedOptions
{
    /// <summary>
    /// Origins of the web pages that may connect, each as a browser sends it: <c>https://game.example</c>, with a port where it is not the
    /// scheme's own, without a path; <c>*</c> for all. Pages of the host that the browser connects to may connect anyway: on a loopback
    /// address only those of localhost, to a <c>wss://</c> endpoint only those of <c>https</c>. Clients that are not browsers send no
    /// origin and are not restricted. Defaults to none.
    /// </summary>
    public IList<string> AllowedOrigins { get; set; } = [];

    /// <summary>
    /// Whether to compress what is sent to clients that offer permessage-deflate (RFC 7692), and to accept what they compress; all browsers
    /// offer it. It costs up to 368 KiB for each session that uses it, and processor time for each message. Do not send secrets beside
    /// what others choose: the length on the wire tells whether they are alike. Defaults to false.
    /// </summary>
    public bool Compression { get; set; }

    void IDescribedOptions.Describe(OptionSection section) => Describe(section);

    internal void Describe(OptionSection section)
    {
        const string Allowed = "allowed: origins such as https://game.example or http://localhost:5173, without a path, and *";
        Compression = section.Flag(nameof(Compression), Compression);
        AllowedOrigins = section.List(nameof(AllowedOrigins), AllowedOrigins, Allowed);
        foreach (string origin in AllowedOrigins.Where(static origin => !IsOrigin(origin)))
        {
            section.Refuse(nameof(AllowedOrigins), $"'{origin}'", Allowed);
        }
    }

    private static bool IsOrigin(string text) => text == "*"
        || (Uri.TryCreate(text, UriKind.Absolute, out Uri? page)
            && page.Authority.Length != 0
            && text.Equals($"{page.Scheme}://{page.Authority}", StringComparison.OrdinalIgnoreCase));
}
