namespace FastPort.Connections;

/// <summary>
/// A step between accepting a connection and its protocol, for example a TLS handshake or reading a PROXY header. Called on the thread
/// pool, once per connection; many calls may run at the same time. Time and number are bounded by <see cref="ServerOptions.StageTimeout"/>
/// and <see cref="ServerOptions.MaxConnectionsInStages"/>.
/// </summary>
/// <param name="connection">The connection, not started. The server owns it: a stage that fails need not close it.</param>
/// <param name="cancellationToken">Canceled when the time is over or the server stops.</param>
/// <returns>
/// The connection for the next stage or the protocol, not started: the same, or the stage's own, which has started the given one and runs
/// above it. From now on its <see cref="Connection.RemoteEndPoint"/> counts for the limit per address. Null to refuse the connection. An
/// exception is logged and refuses it too.
/// </returns>
public delegate ValueTask<Connection?> ConnectionStage(Connection connection, CancellationToken cancellationToken);
