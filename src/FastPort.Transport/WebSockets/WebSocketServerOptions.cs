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

    void IDescribedOptions.Describe(OptionSection section) => Describe(section);

    internal void Describe(OptionSection section)
    {
        const string Allowed = "allowed: origins such as https://game.example or http://localhost:5173, without a path, and *";
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
