namespace FastPort.Sessions;

/// <summary>Gives routing ids to sessions; an id belongs to one session at a time. Safe from any thread.</summary>
internal interface IRoutingIds
{
    /// <summary>
    /// Claims an id for a session that is not welcomed yet; null where another session has it and <paramref name="takeOver"/> is not set. A
    /// session that has begun to close keeps nobody from its id.
    /// </summary>
    /// <param name="routingId">The id, not empty.</param>
    /// <param name="session">The new owner.</param>
    /// <param name="takeOver">Whether the newcomer wins.</param>
    IClaimedId? TryClaim(string routingId, Session session, bool takeOver);
}

/// <summary>A routing id that one or, during a take-over, two sessions have claimed. Safe from any thread.</summary>
internal interface IClaimedId
{
    string Id { get; }

    /// <summary>
    /// Held while the host is told who lost and who took the id, so that it is told in turn. The one lock under which an embedder's code is
    /// called.
    /// </summary>
    Lock Telling { get; }

    /// <summary>
    /// The owner has been welcomed and can be reached from now on; false where another session has taken the id over meanwhile.
    /// </summary>
    /// <param name="session">Who claimed it.</param>
    /// <param name="previous">The session that lost the id, to be closed; null where there was none.</param>
    bool TryEnter(Session session, out Session? previous);

    /// <summary>
    /// The session has ended and cannot be reached any more; true where it could be until now, so once per <see cref="TryEnter"/> at most.
    /// </summary>
    bool Leave(Session session);

    /// <summary>After <see cref="Leave"/>: others may have the id.</summary>
    void Free(Session session);
}

/// <summary>What a routing id may be, as Hello demands.</summary>
internal static class RoutingIdLimits
{
    /// <summary>UTF-16 units at most.</summary>
    public const int MaxLength = 256;

    /// <summary>Bytes at most: no UTF-16 unit takes more than three in UTF-8.</summary>
    public const int MaxBytes = 3 * MaxLength;

    /// <summary>Begins the ids that no peer may have.</summary>
    public const char ReservedMark = '$';
}
