namespace FastPort.Connections;

/// <summary>
/// A protocol of a connection's first bytes. When it has read them it returns <see cref="ReceiveOutcome.Pause"/>; the next
/// <see cref="Connection.Start"/> replaces it by the connection's protocol, which is offered the rest.
/// </summary>
internal interface IConnectionPreamble : IConnectionProtocol;
