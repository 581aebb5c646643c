using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>The portable transport: TCP through the runtime's sockets.</summary>
public sealed class SocketTransport : ITransport
{
    /// <inheritdoc/>
    public bool Supports(string scheme) => scheme == "tcp";

    /// <inheritdoc/>
    public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings) => new SocketListener(endpoint, settings);

    /// <inheritdoc/>
    public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) => new SocketConnector(endpoint, settings);
}
