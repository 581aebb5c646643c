using Google.Protobuf;

namespace FastPort.Protocol.Handlers;

/// <summary>
/// Steps over the fields of an encoded message. It is stricter than a parser: what it does not accept is left to the message's parser.
/// Source: the encoding guide of Protocol Buffers, "Message Structure".
/// </summary>
internal static class WireScan
{
    private const int LongestVarint = 10;

    /// <summary>Reads a tag or a length: up to 32 bits.</summary>
    public static bool TryReadVarint(ReadOnlySpan<byte> body, ref int at, out uint value)
    {
        value = 0;
        for (int shift = 0; shift < 32 && at < body.Length; shift += 7)
        {
            uint bits = body[at++];
            if (bits < 0x80)
            {
                value |= bits << shift;
                return true;
            }

            value |= (bits & 0x7F) << shift;
        }

        return false;
    }

    /// <summary>Steps over the value that follows a tag.</summary>
    /// <param name="body">The message.</param>
    /// <param name="tag">The tag.</param>
    /// <param name="at">Behind the tag; behind the value afterwards.</param>
    /// <param name="contents">Where the contents begin, which a length may precede.</param>
    /// <returns>False where the value does not end within the body, and for groups.</returns>
    public static bool TryPass(ReadOnlySpan<byte> body, uint tag, ref int at, out int contents)
    {
        contents = at;
        uint length;
        switch (WireFormat.GetTagWireType(tag))
        {
            case WireFormat.WireType.LengthDelimited when TryReadVarint(body, ref at, out length):
                contents = at;
                break;
            case WireFormat.WireType.Fixed64:
                length = sizeof(ulong);
                break;
            case WireFormat.WireType.Fixed32:
                length = sizeof(uint);
                break;
            case WireFormat.WireType.Varint:
                length = VarintLength(body[at..]);
                break;
            default:
                return false;
        }

        if (length > (uint)(body.Length - at))
        {
            return false;
        }

        at += (int)length;
        return true;
    }

    // A length that exceeds every body, for a field that does not end.
    private static uint VarintLength(ReadOnlySpan<byte> value)
    {
        for (int i = 0; i < value.Length && i < LongestVarint; i++)
        {
            if (value[i] < 0x80)
            {
                return (uint)i + 1;
            }
        }

        return uint.MaxValue;
    }
}
