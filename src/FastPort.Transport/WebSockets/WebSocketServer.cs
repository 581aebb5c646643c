using System.Net;
using FastPort.Connections;
using FastPort.Transports;

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
    public async ValueTask<Connection?> UpgradeAsync(Connection accepted, CancellationToken cancellationToken)
    {
        var connection = TransportConnection.Of(accepted, "A WebSocket");
        var preamble = new WebSocketPreamble(workers);
        connection.Start(preamble);
        HttpHead? request;
        try
        {
            request = await preamble.Head.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (WebSocketRefusedException) when (preamble.IsTooLong)
        {
            Refuse(connection, WebSocketHandshake.TooLong().Answer);
            throw;
        }

        var compression = options.Compression && request is not null
            ? WebSocketCompression.Choose(request.All(WebSocketHandshake.Extensions))
            : null;
        bool isLoopback = connection.LocalEndPoint is IPEndPoint local && IPAddress.IsLoopback(local.Address);
        var (answer, refusal) = WebSocketHandshake.Answer(
            request,
            _path,
            protocol.Name,
            compression,
            (origin, host) => _origins.WhyRefused(origin, host, isLoopback, connection.Tls is not null));
        if (refusal is not null)
        {
            Refuse(connection, answer);
            throw new WebSocketRefusedException(refusal);
        }

        // Before the answer is sent: the peer's first frame may arrive right after it.
        connection.SetWire(new WebSocketFormat(connection, protocol, isServer: true, settings.MaxReceiveBytes, compression));
        WebSocketHandshake.Send(connection, answer);
        return connection;
    }

    // In order: the answer, and above TLS its end, are still to be sent.
    private static void Refuse(TransportConnection connection, ReadOnlySpan<byte> answer)
    {
        WebSocketHandshake.Send(connection, answer);
        connection.Close(new CloseReason(CloseKind.LocalClosed, "The request of its WebSocket was refused."));
    }
}
