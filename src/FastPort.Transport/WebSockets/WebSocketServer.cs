using System.Net;
using FastPort.Connections;

namespace FastPort.WebSockets;

/// <summary>
/// The stage of one WebSocket endpoint: answers the peer's HTTP request, and gives the WebSocket as connection. Thread-safe.
/// </summary>
/// <param name="endpoint">The endpoint.</param>
/// <param name="options">The server's options.</param>
/// <param name="protocol">The protocol above.</param>
/// <param name="settings">Settings of the connections.</param>
/// <param name="workers">Where the stage resumes.</param>
internal sealed class WebSocketServer(
    Endpoint endpoint, WebSocketServerOptions options, WebSocketProtocol protocol, ConnectionSettings settings, HandshakeWorkers workers)
{
    private readonly WebSocketOrigins _origins = new(options);
    private readonly string _path = WebSocketHandshake.PathOf(endpoint);

    /// <summary>A stage (<c>ConnectionStage</c>).</summary>
    /// <exception cref="WebSocketRefusedException">The request is refused; its answer is written.</exception>
    /// <exception cref="PeerLeftException">The peer has left without a byte.</exception>
    public async ValueTask<Connection?> UpgradeAsync(Connection below, CancellationToken cancellationToken)
    {
        var preamble = new WebSocketPreamble(workers);
        below.Start(preamble);
        HttpHead? request;
        try
        {
            request = await preamble.Head.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (WebSocketRefusedException) when (preamble.IsTooLong)
        {
            Refuse(below, WebSocketHandshake.TooLong().Answer);
            throw;
        }

        bool isLoopback = below.LocalEndPoint is IPEndPoint local && IPAddress.IsLoopback(local.Address);
        var (answer, refusal) = WebSocketHandshake.Answer(
            request, _path, protocol.Name, (origin, host) => _origins.WhyRefused(origin, host, isLoopback, below.Tls is not null));
        if (refusal is not null)
        {
            Refuse(below, answer);
            throw new WebSocketRefusedException(refusal);
        }

        WebSocketHandshake.Send(below, answer);
        return WebSocketConnection.Above(below, settings, protocol, isServer: true);
    }

    // In order: the answer, and above TLS its end, are still to be sent.
    private static void Refuse(Connection below, ReadOnlySpan<byte> answer)
    {
        WebSocketHandshake.Send(below, answer);
        below.Close(new CloseReason(CloseKind.LocalClosed, "The request of its WebSocket was refused."));
    }
}
