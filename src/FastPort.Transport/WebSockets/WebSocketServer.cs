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
    /// <summary>The path that clients ask for.</summary>
    public string Path { get; } = WebSocketHandshake.PathOf(endpoint);

    /// <summary>Which browsers' pages may connect.</summary>
    public WebSocketOrigins Origins { get; } = new(options);

    /// <summary>Whether messages may be compressed.</summary>
    public bool Compresses => options.Compression;

    /// <summary>The protocol above.</summary>
    public WebSocketProtocol Protocol => protocol;

    /// <summary>
    /// A stage (<c>ConnectionStage</c>). It needs no token: when the time is over, the server closes the connection, which ends the stage.
    /// </summary>
    /// <exception cref="WebSocketRefusedException">The request is refused; its answer is written.</exception>
    /// <exception cref="PeerLeftException">The peer has left without a byte.</exception>
    public ValueTask<Connection?> UpgradeAsync(Connection accepted, CancellationToken cancellationToken)
    {
        var connection = TransportConnection.Of(accepted, "A WebSocket");
        var request = new WebSocketRequest(connection, this, workers);
        connection.Start(request);
        return new ValueTask<Connection?>(request.Upgraded);
    }

    /// <summary>The frames of an accepted connection.</summary>
    public WebSocketFormat CreateFormat(TransportConnection connection, WebSocketCompression? compression) =>
        new(connection, protocol, isServer: true, settings.MaxReceiveBytes, compression);
}
