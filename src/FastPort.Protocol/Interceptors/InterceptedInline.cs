using FastPort.Dispatch;
using FastPort.Protocol.Handlers;
using Google.Protobuf;

namespace FastPort.Protocol.Interceptors;

/// <summary>Inline methods with interceptors around them.</summary>
internal static class InterceptedInline
{
    /// <summary>
    /// An inline handler that answers with what the chain returns. If the chain waits, the request is postponed until it has ended: the
    /// session is not read, so that its inline methods still run one after the other.
    /// </summary>
    /// <param name="method">The method.</param>
    /// <param name="chain">The interceptors around the method.</param>
    public static InlineHandler Create<TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method, Func<ServerCall<TRequest>, ValueTask<TReply>> chain)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        var bodies = new BodyParser<TRequest>(method.Type, method.RequestParser, BytesFields.Copied);
        return (ref InlineRequest request) =>
        {
            if (request.Postponed is Wait<TReply> ended)
            {
                request.Reply(new ProtobufBody(ended.Call.GetAwaiter().GetResult()));
                return;
            }

            if (!bodies.TryParse(ref request, out TRequest? message, out _, out string? problem))
            {
                request.Fail(ErrorCode.MalformedBody, problem);
                return;
            }

            ValueTask<TReply> reply = chain(new ServerCall<TRequest>(method.FullName, method.Type, message, request.Session));
            if (reply.IsCompleted)
            {
                request.Reply(new ProtobufBody(reply.Result));
            }
            else
            {
                request.Postpone(new Wait<TReply>(reply.AsTask()));
            }
        };
    }

    private sealed class Wait<TReply>(Task<TReply> call) : Postponement(call, TimeSpan.Zero)
    {
        public Task<TReply> Call { get; } = call;

        // The method may have run: the call is not refused when the session stops.
        public override bool HasBegun => true;
    }
}
