using Google.Protobuf;

namespace FastPort.Protocol.Handlers;

/// <summary>
/// Skips the fields of an encoded message. It is stricter than a parser: the message's parser handles a body that it refuses. Source: the
/// encoding guide of Protocol Buffers, "Message Structure".
/// </summary>
internal static class WireScan
{
    private const int LongestVarint = 10;

    /// <summary>Reads a tag or a length of up to 32 bits.</summary>
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

    /// <summary>Skips the value after a tag.</summary>
    /// <param name="body">The message.</param>
    /// <param name="tag">The tag.</param>
    /// <param name="at">Index after the tag; the call sets it to the index after the value.</param>
    /// <param name="contents">Index of the contents, after the length if there is one.</param>
    /// <returns>False if the value does not end within the body, and for groups.</returns>
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

    // Returns a length that exceeds every body if the varint does not end.
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
