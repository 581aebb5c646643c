namespace FastPort.WebSockets;

/// <summary>What a protocol needs of WebSocket connections. Immutable.</summary>
/// <param name="Name">The sub-protocol that both ends must name, a token of HTTP.</param>
/// <param name="CloseCode">The close code that tells the peer why the connection ends.</param>
internal sealed record WebSocketProtocol(string Name, Func<CloseReason, ushort> CloseCode);
