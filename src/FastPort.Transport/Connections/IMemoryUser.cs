namespace FastPort.Connections;

/// <summary>
/// What a server's memory budget asks a protocol before it closes connections. A protocol that implements it beside
/// <see cref="IConnectionProtocol"/> keeps the connections of known peers open the longest; peers of other protocols count as unknown.
/// Called on any thread, at the budget only; no member may block.
/// </summary>
public interface IMemoryUser
{
    /// <summary>Whether the peer has identified itself and was accepted.</summary>
    bool IsPeerKnown { get; }

    /// <summary>
    /// How long the peer has been late with the rest of a message, or what was received has waited for something else that a peer has to
    /// do; null if neither is so: then received bytes wait for this side, and a known peer is not closed for them.
    /// </summary>
    TimeSpan? UnfinishedFor { get; }

    /// <summary>Sends the reason to a known peer, and closes the connection.</summary>
    /// <param name="reason">Why.</param>
    void TellAndClose(CloseReason reason);
}
