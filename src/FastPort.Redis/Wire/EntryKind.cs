namespace FastPort.Redis.Wire;

/// <summary>The kinds of entries of a batch. A node skips and counts those it does not know.</summary>
internal enum EntryKind : byte
{
    /// <summary>A message for a routing id: see <see cref="RelayEntry"/>.</summary>
    Relay = 1,

    /// <summary>The outcome of a relay: correlation (8), status (1).</summary>
    Confirmation = 2,

    /// <summary>The receiver has read the batch with this number (8).</summary>
    Seen = 3,

    /// <summary>Whether a session of the receiver keeps an id: correlation (8), token (8), which is not read, id.</summary>
    Challenge = 4,

    /// <summary>The receiver's session may have lost its id: token (8), id.</summary>
    TakenOver = 5,

    /// <summary>The sender of this entry does not have the id that a relay was for: token (8), id.</summary>
    Moved = 6,

    /// <summary>A message for the subscribers of a topic: see <see cref="PublishEntry"/>.</summary>
    Publish = 7,

    /// <summary>A session of the sender is subscribed to this prefix.</summary>
    Wanted = 8,

    /// <summary>No session of the sender is subscribed to this prefix any more.</summary>
    Unwanted = 9,

    /// <summary>All prefixes that the sender wants follow; empty.</summary>
    InterestsBegin = 10,

    /// <summary>The sender does not want prefixes that were not named since <see cref="InterestsBegin"/>; empty.</summary>
    InterestsEnd = 11,

    /// <summary>The sender asks for all prefixes that the receiver wants; empty.</summary>
    AskInterests = 12,

    /// <summary>A question about sessions of the receiver: correlation (8), <see cref="Peers.PeerQuestion"/> in JSON.</summary>
    PeerQuestion = 13,

    /// <summary>The answer: correlation (8), sessions in JSON.</summary>
    PeerAnswer = 14,

    /// <summary>The sender has no more sessions and wants no topics: the receiver sends it no more relays; empty.</summary>
    Leaving = 15,
}

/// <summary>What an entry's kind means for its batch.</summary>
internal static class EntryKinds
{
    /// <summary>Whether it concerns the topics that its sender or its receiver wants.</summary>
    public static bool IsInterest(this EntryKind kind) => kind is >= EntryKind.Wanted and <= EntryKind.AskInterests;

    /// <summary>Whether the receiver confirms the batch; both sides must agree on that.</summary>
    public static bool NeedsSeen(this EntryKind kind) => kind is EntryKind.Relay or EntryKind.Publish or EntryKind.Leaving
        || kind.IsInterest();
}
