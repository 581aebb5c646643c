using Google.Protobuf;

namespace FastPort.Protocol.Handlers;

/// <summary>Handlers of bytes around handlers that take and return messages.</summary>
internal static class TypedHandlers
{
    /// <summary>An inline handler that answers with what the other one returns.</summary>
    public static InlineHandler Inline<TRequest, TReply>(BodyParser<TRequest> bodies, Func<TRequest, Session, TReply> handler)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply> =>
        (ref InlineRequest request) =>
        {
            if (!bodies.TryParse(ref request, out TRequest? message, out BorrowedBytes? lent, out string? problem))
            {
                request.Fail(ErrorCode.MalformedBody, problem);
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
        };

    /// <summary>A queued handler that answers with what the other one returns, unless that has answered.</summary>
    public static QueuedHandler Queued<TRequest, TReply>(
        BodyParser<TRequest> bodies, Func<TRequest, RequestContext, ValueTask<TReply>> handler)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply> =>
        context =>
        {
            if (!bodies.TryParse(context.Body, out TRequest? message, out BorrowedBytes? lent, out string? problem))
            {
                context.Fail(ErrorCode.MalformedBody, problem);
                return ValueTask.CompletedTask;
            }

            // A handler that completes synchronously needs no async method.
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
        };

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
}
