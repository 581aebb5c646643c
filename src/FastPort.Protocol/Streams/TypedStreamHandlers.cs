using System.Buffers;
using FastPort.Dispatch.Streams;
using FastPort.Sessions.Streams;
using Google.Protobuf;

namespace FastPort.Protocol.Streams;

/// <summary>Handlers of calls that stream, around delegates that take and return messages.</summary>
internal static class TypedStreamHandlers
{
    public static StreamHandler ServerStream<TRequest, TReply>(
        ushort type,
        MessageParser<TRequest> parser,
        Func<TRequest, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> handler)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage =>
        new ReplyStreamHandler<TRequest, TReply, ProtobufBody>(Parse(type, parser), ToBody, handler);

    public static StreamHandler ClientStream<TRequest, TReply>(
        ushort type,
        MessageParser<TRequest> parser,
        Func<IAsyncEnumerable<TRequest>, StreamContext, CancellationToken, ValueTask<TReply>> handler)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage =>
        new RequestStreamHandler<TRequest, TReply, ProtobufBody>(Parse(type, parser), ToBody, handler);

    public static StreamHandler Duplex<TRequest, TReply>(
        ushort type,
        MessageParser<TRequest> parser,
        Func<IAsyncEnumerable<TRequest>, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> handler)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage =>
        new ExchangeHandler<TRequest, TReply, ProtobufBody>(Parse(type, parser), ToBody, handler);

    private static ItemParser<TRequest> Parse<TRequest>(ushort type, MessageParser<TRequest> parser)
        where TRequest : IMessage<TRequest> =>
        (in ReadOnlySequence<byte> body) => StreamBodies.ParseRequest(type, parser, in body);

    private static ProtobufBody ToBody<TReply>(TReply reply)
        where TReply : IMessage => new(reply);
}
