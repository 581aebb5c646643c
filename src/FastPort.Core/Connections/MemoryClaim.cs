namespace FastPort.Connections;

/// <summary>Who has connections that hold memory of a <see cref="MemoryBudget"/>: a server.</summary>
internal interface IMemoryHolder
{
    /// <summary>Its connections that would give memory back if they were closed, as of now; any thread.</summary>
    IEnumerable<MemoryClaim> Claims { get; }
}

/// <summary>What one connection holds of a <see cref="MemoryBudget"/>.</summary>
/// <param name="Bytes">So many bytes come back with its end, above 0.</param>
/// <param name="IsKnown">Whether its peer is known: then it is one of the last to be closed.</param>
/// <param name="OwedMilliseconds">For how long its peer has owed the rest of a message, or the reading of what was sent.</param>
/// <param name="Close">Begins to close it.</param>
/// <param name="Closed">Ends with it.</param>
internal readonly record struct MemoryClaim(long Bytes, bool IsKnown, long OwedMilliseconds, Action Close, Task Closed);

/// <summary>A protocol that knows who its peer is and what the bytes are for that it leaves unread. Any thread.</summary>
internal interface IMemoryUser
{
    /// <summary>Whether the peer has said who it is, and that was accepted.</summary>
    bool IsPeerKnown { get; }

    /// <summary>
    /// Since when a message is unfinished, in milliseconds of the connection's clock; -1 where none is, so that what lies unread waits for
    /// this side.
    /// </summary>
    long UnfinishedSince { get; }

    /// <summary>Tells a known peer why, and closes.</summary>
    void TellAndClose(CloseReason reason);
}
