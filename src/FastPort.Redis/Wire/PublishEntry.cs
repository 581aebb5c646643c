using System.Buffers.Binary;
using FastPort.Framing;
using FastPort.Routing;

namespace FastPort.Redis.Wire;

/// <summary>
/// A message for the subscribers of a topic. Fields, little-endian: audience (1), message type (2), length of the topic (2), topic, body.
/// </summary>
internal readonly ref struct PublishEntry
{
    /// <summary>Bytes before the topic.</summary>
    public const int FixedSize = 5;

    /// <summary>Maximum length of a topic or prefix, as the server's own limit.</summary>
    public const int MaxTopicBytes = 1024;

    public TopicAudience Audience { get; init; }

    public ushort Type { get; init; }

    public ReadOnlySpan<byte> Topic { get; init; }

    public ReadOnlySpan<byte> Body { get; init; }

    /// <summary>False if the bytes are not a publication that a server could deliver.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out PublishEntry entry)
    {
        entry = default;
        if (bytes.Length < FixedSize || bytes[0] is 0 or > (byte)TopicAudience.All)
        {
            return false;
        }

        int topic = BinaryPrimitives.ReadUInt16LittleEndian(bytes[3..]);
        int body = bytes.Length - FixedSize - topic;
        if (topic > MaxTopicBytes || body < 0 || body > FrameLimits.MaxBodyBytes(FrameLimits.Maximum))
        {
            return false;
        }

        entry = new PublishEntry
        {
            Audience = (TopicAudience)bytes[0],
            Type = BinaryPrimitives.ReadUInt16LittleEndian(bytes[1..]),
            Topic = bytes.Slice(FixedSize, topic),
            Body = bytes[(FixedSize + topic)..],
        };
        return true;
    }

    /// <summary>Writes everything before the body.</summary>
    public static void WriteHead(Span<byte> bytes, TopicAudience audience, ushort type, ReadOnlySpan<byte> topic)
    {
        bytes[0] = (byte)audience;
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[1..], type);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[3..], (ushort)topic.Length);
        topic.CopyTo(bytes[FixedSize..]);
    }
}
