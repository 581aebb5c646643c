using System.Diagnostics.CodeAnalysis;
using Google.Protobuf;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Protocol;

/// <summary>
/// Registers typed handler classes with a server in a host, as queued handlers. With <see cref="ServiceLifetime.Scoped"/> or Transient each
/// message gets its own scope and instance, disposed before the reply is sent; with Singleton one instance serves all sessions
/// concurrently. A body that cannot be parsed is answered with MalformedBody and creates no instance.
/// </summary>
public static class MessageHandlerRegistration
{
    /// <summary>Registers a handler class of requests.</summary>
    /// <typeparam name="THandler">The class; an existing registration of the class is used.</typeparam>
    /// <typeparam name="TRequest">The request.</typeparam>
    /// <typeparam name="TReply">The reply.</typeparam>
    /// <param name="builder">The return value of AddFastPort.</param>
    /// <param name="type">Message type.</param>
    /// <param name="parser">The request's parser: <c>MyRequest.Parser</c>.</param>
    /// <param name="lifetime">The class's lifetime. Defaults to scoped.</param>
    /// <param name="bytesFields">
    /// The owner of the memory of the message's bytes fields. Defaults to <see cref="BytesFields.Copied"/>: the handler.
    /// </param>
    /// <exception cref="ArgumentException">The class is already registered with another lifetime.</exception>
    public static FastPortBuilder AddHandler<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler, TRequest, TReply>(
        this FastPortBuilder builder,
        ushort type,
        MessageParser<TRequest> parser,
        ServiceLifetime lifetime = ServiceLifetime.Scoped,
        BytesFields bytesFields = BytesFields.Copied)
        where THandler : class, IMessageHandler<TRequest, TReply>
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(parser);
        return builder.AddHandlerClass<THandler>(lifetime).Map((provider, handlers) => handlers.MapQueued(
            type,
            parser,
            ScopedHandler.Create<THandler, TRequest, TReply>(
                provider, lifetime, static (handler, request, context) => handler.HandleAsync(request, context)),
            bytesFields));
    }

    /// <summary>Registers a handler class of messages without a reply.</summary>
    /// <typeparam name="THandler">The class; an existing registration of the class is used.</typeparam>
    /// <typeparam name="TMessage">The message.</typeparam>
    /// <param name="builder">The return value of AddFastPort.</param>
    /// <param name="type">Message type.</param>
    /// <param name="parser">The message's parser: <c>MyMessage.Parser</c>.</param>
    /// <param name="lifetime">The class's lifetime. Defaults to scoped.</param>
    /// <param name="bytesFields">
    /// The owner of the memory of the message's bytes fields. Defaults to <see cref="BytesFields.Copied"/>: the handler.
    /// </param>
    /// <exception cref="ArgumentException">The class is already registered with another lifetime.</exception>
    public static FastPortBuilder AddHandler<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler, TMessage>(
        this FastPortBuilder builder,
        ushort type,
        MessageParser<TMessage> parser,
        ServiceLifetime lifetime = ServiceLifetime.Scoped,
        BytesFields bytesFields = BytesFields.Copied)
        where THandler : class, IMessageHandler<TMessage>
        where TMessage : IMessage<TMessage>
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(parser);
        return builder.AddHandlerClass<THandler>(lifetime).Map((provider, handlers) => handlers.MapQueued(
            type,
            parser,
            ScopedHandler.Create<THandler, TMessage>(
                provider, lifetime, static (handler, message, context) => handler.HandleAsync(message, context)),
            bytesFields));
    }
}
