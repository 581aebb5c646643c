using System.Buffers;
using FastPort.Protocol.Handlers;
using Google.Protobuf;

namespace FastPort.Protocol.Streams;

/// <summary>Parses the messages of a stream on the session's loop. The message owns its memory. Thread-safe.</summary>
internal static class StreamBodies
{
    /// <summary>Parses a reply. An exception of the parser is the call's failure, as for one reply.</summary>
    public static T Parse<T>(MessageParser<T> parser, in ReadOnlySequence<byte> body)
        where T : IMessage<T> => body.IsSingleSegment ? parser.ParseFrom(body.FirstSpan) : parser.ParseFrom(body);

    /// <summary>Parses a request for a handler.</summary>
    /// <exception cref="RequestRefusedException">The body is not a message of the type.</exception>
    public static T ParseRequest<T>(ushort type, MessageParser<T> parser, in ReadOnlySequence<byte> body)
        where T : IMessage<T>
    {
        try
        {
            return Parse(parser, in body);
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new RequestRefusedException(
                ErrorCode.MalformedBody, MalformedBody.Describe($"The body of message 0x{type:X4}", typeof(T).Name, e));
        }
    }
}
