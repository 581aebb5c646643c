namespace FastPort;

/// <summary>
/// Handles a message on the session's loop, or on the queue's worker if earlier requests of the session are waiting. Must not block.
/// </summary>
/// <param name="request">The message; valid until the handler returns.</param>
public delegate void InlineHandler(ref InlineRequest request);

/// <summary>Handles a message off the loop unless it was registered otherwise, in arrival order per session.</summary>
/// <param name="context">The message, valid until the returned task ends.</param>
public delegate ValueTask QueuedHandler(RequestContext context);
