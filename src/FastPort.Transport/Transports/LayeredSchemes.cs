namespace FastPort.Transports;

/// <summary>The schemes of endpoints whose connections run above TCP, unless a custom transport serves the scheme.</summary>
internal static class LayeredSchemes
{
    private const string Tls = "tls";
    private const string WebSocket = "ws";
    private const string SecureWebSocket = "wss";

    /// <summary>Whether a scheme is one of these.</summary>
    public static bool Contain(string scheme) => IsSecure(scheme) || IsWebSocket(scheme);

    /// <summary>Whether connections of a scheme are encrypted.</summary>
    public static bool IsSecure(string scheme) => scheme is Tls or SecureWebSocket;

    /// <summary>Whether connections of a scheme are WebSockets.</summary>
    public static bool IsWebSocket(string scheme) => scheme is WebSocket or SecureWebSocket;

    /// <summary>The default port of a scheme; null if there is none.</summary>
    public static int? DefaultPort(string scheme) => scheme switch
    {
        Tls => Endpoint.DefaultPort,
        WebSocket => 80,
        SecureWebSocket => 443,
        _ => null,
    };
}
