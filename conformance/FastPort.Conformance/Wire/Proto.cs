namespace FastPort.Conformance.Wire;

/// <summary>The encoding of Protocol Buffers, as far as the control messages need it.</summary>
internal static class Proto
{
    private const int VarintWire = 0;
    private const int BytesWire = 2;

    public static void WriteVarint(Stream message, int field, ulong value)
    {
        WriteVarint(message, (ulong)((field << 3) | VarintWire));
        WriteVarint(message, value);
    }

    public static void WriteBytes(Stream message, int field, ReadOnlySpan<byte> value)
    {
        WriteVarint(message, (ulong)((field << 3) | BytesWire));
        WriteVarint(message, (ulong)value.Length);
        message.Write(value);
    }

    /// <summary>The fields of a message in their order; a value is a number or bytes.</summary>
    /// <exception cref="CaseFailureException">The bytes are not a message.</exception>
    public static List<(int Field, ulong Number, byte[]? Bytes)> Read(ReadOnlySpan<byte> message)
    {
        List<(int, ulong, byte[]?)> fields = [];
        while (!message.IsEmpty)
        {
            ulong tag = ReadVarint(ref message);
            int field = (int)(tag >> 3);
            switch ((int)(tag & 7))
            {
                case VarintWire:
                    fields.Add((field, ReadVarint(ref message), null));
                    break;
                case BytesWire:
                    ulong length = ReadVarint(ref message);
                    fields.Add((field, 0, Take(ref message, length).ToArray()));
                    break;
                case 1:
                    Take(ref message, 8);
                    break;
                case 5:
                    Take(ref message, 4);
                    break;
                default:
                    throw new CaseFailureException($"The client sent a body with the wire type {tag & 7}.");
            }
        }

        return fields;
    }

    private static ReadOnlySpan<byte> Take(ref ReadOnlySpan<byte> message, ulong length)
    {
        if ((ulong)message.Length < length)
        {
            throw new CaseFailureException("The client sent a body that ends within a field.");
        }

        ReadOnlySpan<byte> taken = message[..(int)length];
        message = message[(int)length..];
        return taken;
    }

    private static void WriteVarint(Stream message, ulong value)
    {
        for (; value >= 0x80; value >>= 7)
        {
            message.WriteByte((byte)(value | 0x80));
        }

        message.WriteByte((byte)value);
    }

    private static ulong ReadVarint(ref ReadOnlySpan<byte> message)
    {
        ulong value = 0;
        for (int shift = 0; shift < 64; shift += 7)
        {
            byte next = Take(ref message, 1)[0];
            value |= (ulong)(next & 0x7f) << shift;
            if (next < 0x80)
            {
                return value;
            }
        }

        throw new CaseFailureException("The client sent a body with a number of more than ten bytes.");
    }
}
