using System.Diagnostics.CodeAnalysis;
using FastPort.Dispatch;
using Google.Protobuf;

namespace FastPort.Protocol.Handlers;

/// <summary>
/// Parses the bodies of one message type. An object rather than a generic method: code that is shared between all messages would have to look up, call by
/// call, for which one it runs. Thread-safe.
/// </summary>
internal sealed class BodyParser<T>(ushort type, MessageParser<T> parser)
    where T : IMessage<T>
{
    /// <summary>What the sender of a body that does not parse is told.</summary>
    public string Complaint => $"The body of message 0x{type:X4} is no {typeof(T).Name} message.";

    public bool TryParse(scoped ref InlineRequest request, [NotNullWhen(true)] out T? message)
    {
        try
        {
            // The second only across the wrap of the ring.
            message = request.TryGetBodySpan(out ReadOnlySpan<byte> body) ? parser.ParseFrom(body) : parser.ParseFrom(request.Body);
            return true;
        }
        catch (InvalidProtocolBufferException)
        {
            message = default;
            return false;
        }
    }

    public bool TryParse(ReadOnlySpan<byte> body, [NotNullWhen(true)] out T? message)
    {
        try
        {
            message = parser.ParseFrom(body);
            return true;
        }
        catch (InvalidProtocolBufferException)
        {
            message = default;
            return false;
        }
    }
}
