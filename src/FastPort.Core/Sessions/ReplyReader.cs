namespace FastPort;

/// <summary>Reads a reply's body on the session's loop, while the body is still in the receive ring. Must not block.</summary>
/// <typeparam name="TResult">The result of the request.</typeparam>
/// <param name="reply">The reply, never an error; valid until the call returns.</param>
public delegate TResult ReplyReader<out TResult>(scoped in InboundReply reply);
