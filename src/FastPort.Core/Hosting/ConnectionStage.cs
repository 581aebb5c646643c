using FastPort.Connections;

namespace FastPort.Hosting;

/// <summary>
/// A step between accepting a connection and its protocol, such as a TLS handshake or reading a PROXY header. Runs on the thread pool, for
/// one connection
/// once; many run at the same time. How long and how many is bounded: <see cref="ServerOptions.StageTimeout"/>,
/// <see cref="ServerOptions.MaxConnectionsInStages"/>.
/// </summary>
/// <param name="connection">The connection, not started. It stays the server's: a stage that gives up need not close it.</param>
/// <param name="cancellationToken">Cancelled when the time is over or the server stops.</param>
/// <returns>
/// The connection to go on with, not started: the same, or one of the stage's own that has started it and stands above it. Its
/// <see cref="Connection.RemoteEndPoint"/> counts for the limit per address from here on. Null to refuse the connection. What is thrown is
/// logged and refuses it too.
/// </returns>
public delegate ValueTask<Connection?> ConnectionStage(Connection connection, CancellationToken cancellationToken);
