using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.WebSockets;

/// <summary>Connects to a <c>ws://</c> or <c>wss://</c> endpoint: the connection below, then the handshake.</summary>
/// <param name="endpoint">The endpoint.</param>
/// <param name="below">Connects over TCP or TLS.</param>
/// <param name="protocol">The protocol above.</param>
/// <param name="settings">Settings of the connections.</param>
internal sealed class WebSocketConnector(
    Endpoint endpoint, ITransportConnector below, WebSocketProtocol protocol, ConnectionSettings settings) : ITransportConnector
{
    public async ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken)
    {
        Connection connected = await below.ConnectAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            var connection = TransportConnection.Of(connected, "A WebSocket");
            WebSocketKey key = WebSocketHandshake.NewKey();
            var answer = new WebSocketAnswer(connection, key, protocol, settings);
            connection.Start(answer);
            WebSocketHandshake.Send(connection, WebSocketHandshake.Request(endpoint, key, protocol.Name));

            // The worker that has read the answer must not run the continuation: it may be the application's code.
            Task<Connection?> upgraded = answer.Upgraded.WaitAsync(cancellationToken);
            await ((Task)upgraded).ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            await upgraded.ConfigureAwait(false);
            return connection;
        }
        catch (IOException e)
        {
            connected.Close(CloseReason.LocalClosed);
            cancellationToken.ThrowIfCancellationRequested();
            throw new EndpointException(endpoint, $"Cannot connect to {endpoint}: {e.Message.TrimEnd('.')}.", e);
        }
        catch
        {
            connected.Close(CloseReason.LocalClosed);
            throw;
        }
    }
}
