namespace FastPort.Connections;

/// <summary>
/// Questions that a server's memory budget asks a protocol before it closes connections. If a protocol implements this interface in
/// addition to <see cref="IConnectionProtocol"/>, the connections of its known peers stay open the longest; peers of other protocols count
/// as unknown. Called on any thread, only when the budget is exhausted; no member may block.
/// </summary>
public interface IMemoryUser
{
    /// <summary>Whether the peer has identified itself and was accepted.</summary>
    bool IsPeerKnown { get; }

    /// <summary>
    /// How long the rest of a message has been overdue, or how long received bytes have waited for another action of a peer; null if
    /// neither applies: then received bytes wait for this side, and a known peer is not closed because of them.
    /// </summary>
    TimeSpan? UnfinishedFor { get; }

    /// <summary>Sends the reason to a known peer, and closes the connection.</summary>
    /// <param name="reason">Why.</param>
    void TellAndClose(CloseReason reason);
}
