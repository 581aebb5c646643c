using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.WebSockets;

/// <summary>A server's answer to this side's request for a WebSocket.</summary>
/// <param name="connection">The connection that the answer comes from.</param>
/// <param name="key">The request's key.</param>
/// <param name="protocol">The protocol above.</param>
/// <param name="settings">Settings of the connections.</param>
internal sealed class WebSocketAnswer(
    TransportConnection connection, WebSocketKey key, WebSocketProtocol protocol, ConnectionSettings settings)
    : WebSocketPreamble(connection, HandshakeWorkers.Clients)
{
    private string? _problem;

    protected override void OnHead(bool isHttp, HttpHead head) =>
        _problem = isHttp ? WebSocketHandshake.WhatIsWrong(head, key, protocol.Name) : "the answer is not HTTP";

    protected override void OnTooLong() => _problem = $"the head of the answer has more than {HttpHead.MaxBytes} bytes";

    protected override string? Upgrade()
    {
        if (_problem is null)
        {
            Connection.SetWire(new WebSocketFormat(Connection, protocol, isServer: false, settings.MaxReceiveBytes));
        }

        return _problem;
    }
}
