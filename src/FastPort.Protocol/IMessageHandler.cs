using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>
/// A queued handler class with a typed request and reply, for handlers with injected services. Register it with
/// <see cref="MessageHandlerRegistration.AddHandler{THandler, TRequest, TReply}"/>.
/// </summary>
/// <typeparam name="TRequest">The request.</typeparam>
/// <typeparam name="TReply">The reply.</typeparam>
public interface IMessageHandler<in TRequest, TReply>
    where TRequest : IMessage
    where TReply : IMessage
{
    /// <summary>Handles one request. Throw <see cref="RequestRefusedException"/> to answer with an error.</summary>
    /// <param name="request">The request; owned by the handler, except for borrowed <see cref="BytesFields"/>.</param>
    /// <param name="context">Session, cancellation token and raw body; valid until the returned task ends.</param>
    /// <returns>The reply; dropped for one-way messages, and if the handler has already answered through the context.</returns>
    ValueTask<TReply> HandleAsync(TRequest request, RequestContext context);
}

/// <summary>
/// A queued handler class for messages without a reply; a request gets an empty reply when the handler ends. Register it with
/// <see cref="MessageHandlerRegistration.AddHandler{THandler, TMessage}"/>.
/// </summary>
/// <typeparam name="TMessage">The message.</typeparam>
public interface IMessageHandler<in TMessage>
    where TMessage : IMessage
{
    /// <summary>Handles one message. Throw <see cref="RequestRefusedException"/> to answer a request with an error.</summary>
    /// <param name="message">The message; owned by the handler, except for borrowed <see cref="BytesFields"/>.</param>
    /// <param name="context">Session, cancellation token and raw body; valid until the returned task ends.</param>
    ValueTask HandleAsync(TMessage message, RequestContext context);
}
