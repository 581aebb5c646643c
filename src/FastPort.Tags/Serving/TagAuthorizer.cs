namespace FastPort.Tags;

/// <summary>An access of a session to a tag.</summary>
public enum TagAccess
{
    /// <summary>See a node while browsing: the session may use the node or a node below it.</summary>
    Browse,

    /// <summary>Read the tag, or subscribe to it.</summary>
    Read,

    /// <summary>Write the tag.</summary>
    Write,

    /// <summary>Call the method of that name.</summary>
    Call,

    /// <summary>Publish a tag of that name.</summary>
    Publish,
}

/// <summary>
/// Decides on a session's access to a tag. Decisions about handles are cached until <see cref="TagServer.ReviewAccessAsync"/>. Called on
/// any thread; must be fast and must not throw.
/// </summary>
/// <param name="session">The session.</param>
/// <param name="access">The access.</param>
/// <param name="name">The tag's name, as the session has written it.</param>
/// <param name="isAttempt">
/// Whether the session attempts the access now, so that a refusal is worth an audit line; false if the server only checks.
/// </param>
public delegate bool TagAuthorizer(Session session, TagAccess access, string name, bool isAttempt);
