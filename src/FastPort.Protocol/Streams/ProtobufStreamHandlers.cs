using FastPort.Protocol.Streams;
using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>
/// Registers typed handlers of calls that stream. A handler starts on the thread pool as soon as its call arrives, and may wait. It ends
/// at once when its token is canceled: the caller has canceled the call, or the session has ended or is stopping. Throw
/// <see cref="RequestRefusedException"/> to end the call with an error.
/// </summary>
public static class ProtobufStreamHandlers
{
    /// <summary>Registers a handler of calls with one request and a stream of replies.</summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type, 0x0100 to 0xFFFF; application types begin at 0x1000.</param>
    /// <param name="parser">The request's parser: <c>MyRequest.Parser</c>.</param>
    /// <param name="handler">
    /// Returns the replies, which are sent as the caller reads them. The replies belong to the session until the next one is asked for.
    /// </param>
    /// <exception cref="ArgumentException">The type is already registered or belongs to the session layer.</exception>
    public static MessageHandlers MapStream<TRequest, TReply>(
        this MessageHandlers handlers,
        ushort type,
        MessageParser<TRequest> parser,
        Func<TRequest, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> handler)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(parser);
        ArgumentNullException.ThrowIfNull(handler);
        return handlers.MapStream(type, TypedStreamHandlers.ServerStream(type, parser, handler), typeof(TRequest).Name);
    }

    /// <summary>Registers a handler of calls with a stream of requests and one reply.</summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type, 0x0100 to 0xFFFF; application types begin at 0x1000.</param>
    /// <param name="parser">The requests' parser: <c>MyRequest.Parser</c>.</param>
    /// <param name="handler">
    /// Reads the requests, once, and returns the reply. The caller sends as the handler reads. A handler may reply before the end of the
    /// requests.
    /// </param>
    /// <exception cref="ArgumentException">The type is already registered or belongs to the session layer.</exception>
    public static MessageHandlers MapStream<TRequest, TReply>(
        this MessageHandlers handlers,
        ushort type,
        MessageParser<TRequest> parser,
        Func<IAsyncEnumerable<TRequest>, StreamContext, CancellationToken, ValueTask<TReply>> handler)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(parser);
        ArgumentNullException.ThrowIfNull(handler);
        return handlers.MapStream(type, TypedStreamHandlers.ClientStream(type, parser, handler), typeof(TRequest).Name);
    }

    /// <summary>Registers a handler of calls with a stream of requests and a stream of replies.</summary>
    /// <param name="handlers">The table.</param>
    /// <param name="type">Message type, 0x0100 to 0xFFFF; application types begin at 0x1000.</param>
    /// <param name="parser">The requests' parser: <c>MyRequest.Parser</c>.</param>
    /// <param name="handler">
    /// Reads the requests, once, and returns the replies. The two streams are independent: either may end before the other. The call ends
    /// with the replies.
    /// </param>
    /// <exception cref="ArgumentException">The type is already registered or belongs to the session layer.</exception>
    public static MessageHandlers MapStream<TRequest, TReply>(
        this MessageHandlers handlers,
        ushort type,
        MessageParser<TRequest> parser,
        Func<IAsyncEnumerable<TRequest>, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> handler)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(parser);
        ArgumentNullException.ThrowIfNull(handler);
        return handlers.MapStream(type, TypedStreamHandlers.Duplex(type, parser, handler), typeof(TRequest).Name);
    }
}
