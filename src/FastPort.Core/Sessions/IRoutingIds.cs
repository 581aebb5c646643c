using FastPort.Logging;

namespace FastPort.Sessions;

/// <summary>Assigns routing ids to sessions. An id belongs to one session at a time. Safe from any thread.</summary>
internal interface IRoutingIds
{
    /// <summary>
    /// Claims an id for a session that is not welcomed yet; null if another session has the id and <paramref name="takeOver"/> is false. A
    /// session that has begun to close does not block its id.
    /// </summary>
    /// <param name="routingId">The id, not empty.</param>
    /// <param name="session">The new owner.</param>
    /// <param name="takeOver">Whether the new owner replaces the current one.</param>
    IClaimedId? TryClaim(string routingId, Session session, bool takeOver);
}

/// <summary>A routing id claimed by one session or, during a take-over, by two. Safe from any thread.</summary>
internal interface IClaimedId
{
    string Id { get; }

    /// <summary>
    /// Held while the host is notified of the session that lost the id and of the one that took it, so that the notifications keep their
    /// order. The only lock under which application code runs.
    /// </summary>
    Lock Telling { get; }

    /// <summary>
    /// Makes the session reachable by the id, after its welcome; false if another session has taken over the id in the meantime.
    /// </summary>
    /// <param name="session">The session that claimed the id.</param>
    /// <param name="previous">The session that lost the id and must be closed; null if there is none.</param>
    bool TryEnter(Session session, out Session? previous);

    /// <summary>
    /// Makes an ended session unreachable. True if it was reachable until now, so at most once per <see cref="TryEnter"/>.
    /// </summary>
    bool Leave(Session session);

    /// <summary>Called after <see cref="Leave"/>: other sessions may claim the id.</summary>
    void Free(Session session);
}

/// <summary>The limits for a routing id in Hello.</summary>
internal static class RoutingIdLimits
{
    /// <summary>Maximum length in UTF-16 code units.</summary>
    public const int MaxLength = 256;

    /// <summary>Maximum length in UTF-8 bytes: a UTF-16 code unit takes at most three.</summary>
    public const int MaxBytes = 3 * MaxLength;

    /// <summary>First character of the ids that are reserved for the server.</summary>
    public const char ReservedMark = '$';

    /// <summary>What <see cref="IsName"/> says, for messages.</summary>
    public static readonly string Name = $"at most {MaxLength} characters, none of category Cc, Cf, Zl or Zp";

    /// <summary>
    /// Whether Hello may have this text as a routing id or client name: they appear in log lines, so no line breaks and a bounded length.
    /// </summary>
    public static bool IsName(string text) => text.Length <= MaxLength && PeerText.IsPlain(text);
}
