using FastPort.Sessions;

namespace FastPort.Tags.Serving;

/// <summary>What a session wants to do with a tag.</summary>
public enum TagAccess
{
    /// <summary>See a node while browsing: it, or something below it, may be used.</summary>
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
/// Decides what a session may do with a tag. Answers about handles are kept until <see cref="TagServer.ReviewAccessAsync"/>. Called on any
/// thread; must be fast and must not throw.
/// </summary>
/// <param name="session">The session.</param>
/// <param name="access">What it wants to do.</param>
/// <param name="name">The tag's name, as the session has written it.</param>
/// <param name="isAttempt">
/// Whether the session does it now, so that a refusal is worth an audit line; false if the server only wants to know.
/// </param>
public delegate bool TagAuthorizer(Session session, TagAccess access, string name, bool isAttempt);
