using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Protocol.Handlers;
using FastPort.Sessions;
using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>
/// Registers handlers that take and return Protocol Buffers messages. The built-in diagnostics use the same methods. A body that does not
/// parse is answered with MalformedBody before the handler is called. A handler refuses a request with
/// <see cref="RequestRefusedException"/>.
/// </summary>
public static class ProtobufHandlers
{
    /// <summary>Registers a handler that runs on the session's loop and must not block.</summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type.</param>
    /// <param name="parser">The request's parser: <c>MyRequest.Parser</c>.</param>
    /// <param name="handler">Gets the request and its session, returns the reply. The reply of a one-way message is dropped.</param>
    /// <param name="bytesFields">Whose the request's bytes fields are. Defaults to <see cref="BytesFields.Copied"/>: the handler's.</param>
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
        return handlers.MapInline(
            type,
            (ref InlineRequest request) =>
            {
                if (!bodies.TryParse(ref request, out TRequest? message, out BorrowedBytes? lent))
                {
                    request.Fail(ErrorCode.MalformedBody, bodies.ParseError);
                    return;
                }

                try
                {
                    request.Reply(new ProtobufBody(handler(message, request.Session)));
                }
                finally
                {
                    lent?.End();
                }
            },
            typeof(TRequest).Name);
    }

    /// <summary>
    /// Registers a handler of messages that need no reply; it runs on the session's loop and must not block. A request gets an empty reply.
    /// </summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type.</param>
    /// <param name="parser">The message's parser: <c>MyMessage.Parser</c>.</param>
    /// <param name="handler">Gets the message and its session.</param>
    /// <param name="bytesFields">Whose the message's bytes fields are. Defaults to <see cref="BytesFields.Copied"/>: the handler's.</param>
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
        var bodies = new BodyParser<TMessage>(type, parser, bytesFields);
        return handlers.MapInline(
            type,
            (ref InlineRequest request) =>
            {
                if (!bodies.TryParse(ref request, out TMessage? message, out BorrowedBytes? lent))
                {
                    request.Fail(ErrorCode.MalformedBody, bodies.ParseError);
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

    /// <summary>Registers a handler that runs off the loop and may wait. Requests of one session are started in arrival order.</summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type.</param>
    /// <param name="parser">The request's parser: <c>MyRequest.Parser</c>.</param>
    /// <param name="handler">
    /// Gets the request and its context (session, cancellation), returns the reply. What it returns is dropped where it has answered
    /// through the context already, with <see cref="RequestContext.Fail"/> for instance.</param>
    /// <param name="bytesFields">Whose the request's bytes fields are. Defaults to <see cref="BytesFields.Copied"/>: the handler's.</param>
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
        return handlers.MapQueued(
            type,
            context =>
            {
                if (!bodies.TryParse(context.Body, out TRequest? message, out BorrowedBytes? lent))
                {
                    context.Fail(ErrorCode.MalformedBody, bodies.ParseError);
                    return ValueTask.CompletedTask;
                }

                // A handler that ends at once needs no async method.
                bool waits = false;
                try
                {
                    ValueTask<TReply> handling = handler(message, context);
                    if (handling.IsCompletedSuccessfully)
                    {
                        Answer(context, handling.Result);
                        return ValueTask.CompletedTask;
                    }

                    waits = true;
                    return AnswerAsync(handling, context, lent);
                }
                finally
                {
                    if (!waits)
                    {
                        lent?.End();
                    }
                }
            },
            typeof(TRequest).Name);
    }

    /// <summary>
    /// Registers a handler of messages that need no reply; it runs off the loop and may wait. A request gets an empty reply when it ends.
    /// </summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type.</param>
    /// <param name="parser">The message's parser: <c>MyMessage.Parser</c>.</param>
    /// <param name="handler">Gets the message and its context.</param>
    /// <param name="bytesFields">Whose the message's bytes fields are. Defaults to <see cref="BytesFields.Copied"/>: the handler's.</param>
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
                if (!bodies.TryParse(context.Body, out TMessage? message, out BorrowedBytes? lent))
                {
                    context.Fail(ErrorCode.MalformedBody, bodies.ParseError);
                    return ValueTask.CompletedTask;
                }

                // No async method where nothing has to be done afterwards.
                return lent is null ? handler(message, context) : HandleBorrowedAsync(handler, message, context, lent);
            },
            typeof(TMessage).Name);
    }

    private static void Answer<TReply>(RequestContext context, TReply reply)
        where TReply : IMessage
    {
        if (!context.Answered)
        {
            context.Reply(new ProtobufBody(reply));
        }
    }

    private static async ValueTask AnswerAsync<TReply>(ValueTask<TReply> handling, RequestContext context, BorrowedBytes? lent)
        where TReply : IMessage
    {
        try
        {
            Answer(context, await handling.ConfigureAwait(false));
        }
        finally
        {
            lent?.End();
        }
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
