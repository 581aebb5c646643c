namespace FastPort.Redis.Wire;

/// <summary>The kinds of entries of a batch. A node skips and counts those it does not know.</summary>
internal enum EntryKind : byte
{
    /// <summary>A message for a routing id: see <see cref="RelayEntry"/>.</summary>
    Relay = 1,

    /// <summary>What became of a relay: correlation (8), status (1).</summary>
    Confirmation = 2,

    /// <summary>The receiver has read the batch with this number (8) and all before it.</summary>
    Seen = 3,

    /// <summary>Whether the session that has an id is about to end: correlation (8), token (8), id.</summary>
    Challenge = 4,

    /// <summary>The receiver's session has lost its id: token (8), id.</summary>
    TakenOver = 5,

    /// <summary>The sender of this entry has not the id that a relay was for: token (8), id.</summary>
    Moved = 6,
}
