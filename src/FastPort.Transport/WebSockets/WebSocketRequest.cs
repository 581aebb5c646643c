using System.Net;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.WebSockets;

/// <summary>A client's request for a WebSocket, and its answer.</summary>
/// <param name="connection">The connection that the request comes from.</param>
/// <param name="server">The endpoint.</param>
/// <param name="workers">Where the request is answered.</param>
internal sealed class WebSocketRequest(TransportConnection connection, WebSocketServer server, HandshakeWorkers workers)
    : WebSocketPreamble(connection, workers)
{
    private WebSocketKey _key;
    private WebSocketRefusal? _refusal;
    private WebSocketCompression? _compression;

    protected override void OnHead(bool isHttp, HttpHead head)
    {
        _refusal = isHttp
            ? WebSocketHandshake.Check(head, server.Path, server.Protocol.Name, out _key) ?? CheckOrigin(head)
            : WebSocketHandshake.NoHttp;
        _compression = server.Compresses && isHttp ? WebSocketCompression.Choose(head.All(WebSocketHandshake.Extensions)) : null;
    }

    protected override void OnTooLong() => _refusal = WebSocketHandshake.TooLong;

    protected override string? Upgrade()
    {
        if (_refusal is not null)
        {
            // In order: the answer, and above TLS its end, are still to be sent.
            WebSocketHandshake.Send(Connection, _refusal.ToAnswer());
            Connection.Close(new CloseReason(CloseKind.LocalClosed, "The request of its WebSocket was refused."));
            return _refusal.Sentence;
        }

        // Before the answer is sent: the peer's first frame may arrive right after it.
        Connection.SetWire(server.CreateFormat(Connection, _compression));
        Span<byte> answer = stackalloc byte[WebSocketHandshake.MaxAnswer];
        int length = WebSocketHandshake.WriteAnswer(answer, _key, server.Protocol.Name, _compression);
        WebSocketHandshake.Send(Connection, answer[..length]);
        return null;
    }

    // A request without Origin does not come from a browser. Several Origin fields are refused as an origin that is not allowed.
    private WebSocketRefusal? CheckOrigin(HttpHead head)
    {
        if (!head.Has("Origin"u8))
        {
            return null;
        }

        bool isLoopback = Connection.LocalEndPoint is IPEndPoint local && IPAddress.IsLoopback(local.Address);
        return server.Origins.WhyRefused(head.TextOf("Origin"u8), head.TextOf("Host"u8), isLoopback, Connection.Tls is not null) is { } why
            ? new WebSocketRefusal("403 Forbidden", why)
            : null;
    }
}
