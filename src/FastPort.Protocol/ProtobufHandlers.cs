using System.Runtime.CompilerServices;
using FastPort.Protocol.Handlers;
using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>
/// Registers handlers that take and return Protocol Buffers messages. The built-in diagnostics use the same methods. A body that cannot be
/// parsed is answered with MalformedBody, without a call of the handler. A handler refuses a request with
/// <see cref="RequestRefusedException"/>.
/// </summary>
public static class ProtobufHandlers
{
    /// <summary>Registers an inline handler: it runs on the session's loop and must not block.</summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type.</param>
    /// <param name="parser">The request's parser: <c>MyRequest.Parser</c>.</param>
    /// <param name="handler">Takes the request and its session, returns the reply. The reply to a one-way message is dropped.</param>
    /// <param name="bytesFields">
    /// The owner of the memory of the request's bytes fields. Defaults to <see cref="BytesFields.Copied"/>: the handler.
    /// </param>
    public static MessageHandlers MapInline<TRequest, TReply>(
        this MessageHandlers handlers,
        ushort type,
        MessageParser<TRequest> parser,
        Func<TRequest, Session, TReply> handler,
        BytesFields bytesFields = BytesFields.Copied)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(parser);
        ArgumentNullException.ThrowIfNull(handler);
        var bodies = new BodyParser<TRequest>(type, parser, bytesFields);
        return handlers.MapInline(type, TypedHandlers.Inline(bodies, handler), typeof(TRequest).Name);
    }

    /// <summary>
    /// Registers an inline handler of messages without a reply: it runs on the session's loop and must not block. A request gets an empty
    /// reply.
    /// </summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type.</param>
    /// <param name="parser">The message's parser: <c>MyMessage.Parser</c>.</param>
    /// <param name="handler">Takes the message and its session.</param>
    /// <param name="bytesFields">
    /// The owner of the memory of the message's bytes fields. Defaults to <see cref="BytesFields.Copied"/>: the handler.
    /// </param>
    /// <exception cref="ArgumentException">
    /// The handler is an async method or lambda, or the type is already registered or belongs to the session layer.
    /// </exception>
    public static MessageHandlers MapInline<TMessage>(
        this MessageHandlers handlers,
        ushort type,
        MessageParser<TMessage> parser,
        Action<TMessage, Session> handler,
        BytesFields bytesFields = BytesFields.Copied)
        where TMessage : IMessage<TMessage>
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(parser);
        ArgumentNullException.ThrowIfNull(handler);

        // Programs compiled to native code may lack the method's metadata.
        if (RuntimeFeature.IsDynamicCodeSupported && handler.Method.IsDefined(typeof(AsyncStateMachineAttribute), inherit: false))
        {
            // Nobody would await it, and its exception would end the process.
            throw new ArgumentException(
                $"The inline handler of type 0x{type:X4} is async. An inline handler cannot wait; map it with MapQueued.", nameof(handler));
        }

        var bodies = new BodyParser<TMessage>(type, parser, bytesFields);
        return handlers.MapInline(
            type,
            (ref InlineRequest request) =>
            {
                if (!bodies.TryParse(ref request, out TMessage? message, out BorrowedBytes? lent, out string? problem))
                {
                    request.Fail(ErrorCode.MalformedBody, problem);
                    return;
                }

                try
                {
                    handler(message, request.Session);
                }
                finally
                {
                    lent?.End();
                }
            },
            typeof(TMessage).Name);
    }

    /// <summary>
    /// Registers a queued handler: it runs outside the loop and may wait. The handlers of one session's requests start in arrival order.
    /// </summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type.</param>
    /// <param name="parser">The request's parser: <c>MyRequest.Parser</c>.</param>
    /// <param name="handler">
    /// Takes the request and its context (session, cancellation token), returns the reply. The reply is dropped if the handler has already
    /// answered through the context, for example with <see cref="RequestContext.Fail"/>.
    /// </param>
    /// <param name="bytesFields">
    /// The owner of the memory of the request's bytes fields. Defaults to <see cref="BytesFields.Copied"/>: the handler.
    /// </param>
    public static MessageHandlers MapQueued<TRequest, TReply>(
        this MessageHandlers handlers,
        ushort type,
        MessageParser<TRequest> parser,
        Func<TRequest, RequestContext, ValueTask<TReply>> handler,
        BytesFields bytesFields = BytesFields.Copied)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(parser);
        ArgumentNullException.ThrowIfNull(handler);
        var bodies = new BodyParser<TRequest>(type, parser, bytesFields);
        return handlers.MapQueued(type, TypedHandlers.Queued(bodies, handler), typeof(TRequest).Name);
    }

    /// <summary>
    /// Registers a queued handler of messages without a reply: it runs outside the loop and may wait. A request gets an empty reply when
    /// the handler ends.
    /// </summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type.</param>
    /// <param name="parser">The message's parser: <c>MyMessage.Parser</c>.</param>
    /// <param name="handler">Takes the message and its context.</param>
    /// <param name="bytesFields">
    /// The owner of the memory of the message's bytes fields. Defaults to <see cref="BytesFields.Copied"/>: the handler.
    /// </param>
    public static MessageHandlers MapQueued<TMessage>(
        this MessageHandlers handlers,
        ushort type,
        MessageParser<TMessage> parser,
        Func<TMessage, RequestContext, ValueTask> handler,
        BytesFields bytesFields = BytesFields.Copied)
        where TMessage : IMessage<TMessage>
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(parser);
        ArgumentNullException.ThrowIfNull(handler);
        var bodies = new BodyParser<TMessage>(type, parser, bytesFields);
        return handlers.MapQueued(
            type,
            context =>
            {
                if (!bodies.TryParse(context.Body, out TMessage? message, out BorrowedBytes? lent, out string? problem))
                {
                    context.Fail(ErrorCode.MalformedBody, problem);
                    return ValueTask.CompletedTask;
                }

                // No async method if there is nothing to do after the handler.
                return lent is null ? handler(message, context) : HandleBorrowedAsync(handler, message, context, lent);
            },
            typeof(TMessage).Name);
    }

    private static async ValueTask HandleBorrowedAsync<TMessage>(
        Func<TMessage, RequestContext, ValueTask> handler, TMessage message, RequestContext context, BorrowedBytes lent)
    {
        try
        {
            await handler(message, context).ConfigureAwait(false);
        }
        finally
        {
            lent.End();
        }
    }
}
