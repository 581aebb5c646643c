using FastPort.Connections;

namespace FastPort.Hosting;

/// <summary>
/// The protocol of a connection until its loop runs for the first time: then the server creates the connection's protocol, which replaces
/// this one. So only the loop's thread is needed, even if the thread pool is busy.
/// </summary>
internal sealed class ConnectionOpening(ConnectionServer server, AcceptedConnection accepted) : IConnectionPreamble
{
    public void OnOpened(Connection connection) => server.Open(accepted, connection);

    // It is still the protocol only if none could be created: the connection closes.
    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        input.Consume(input.Length);
        return ReceiveOutcome.Continue;
    }

    public void OnInputEnded(bool truncated)
    {
    }

    public void OnClosed(CloseReason reason)
    {
    }
}
