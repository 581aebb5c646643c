using System.Buffers.Binary;

namespace FastPort.Conformance.Wire;

/// <summary>The encoding of Protocol Buffers, as far as the messages need it.</summary>
internal static class Proto
{
    public const int VarintWire = 0;
    public const int Fixed64Wire = 1;
    public const int BytesWire = 2;
    public const int Fixed32Wire = 5;

    public static void WriteNumber(Stream message, int field, int wire, ulong bits)
    {
        WriteVarint(message, (ulong)((field << 3) | wire));
        WriteNumber(message, wire, bits);
    }

    public static void WriteNumber(Stream message, int wire, ulong bits)
    {
        Span<byte> bytes = stackalloc byte[sizeof(ulong)];
        switch (wire)
        {
            case VarintWire:
                WriteVarint(message, bits);
                break;
            case Fixed32Wire:
                BinaryPrimitives.WriteUInt32LittleEndian(bytes, (uint)bits);
                message.Write(bytes[..sizeof(uint)]);
                break;
            default:
                BinaryPrimitives.WriteUInt64LittleEndian(bytes, bits);
                message.Write(bytes);
                break;
        }
    }

    public static void WriteBytes(Stream message, int field, ReadOnlySpan<byte> value)
    {
        WriteVarint(message, (ulong)((field << 3) | BytesWire));
        WriteVarint(message, (ulong)value.Length);
        message.Write(value);
    }

    /// <summary>The fields of a message in their order; a value is the bits of a number, or bytes.</summary>
    /// <exception cref="CaseFailureException">The bytes are not a message.</exception>
    public static List<(int Field, int Wire, ulong Number, byte[] Bytes)> Read(ReadOnlySpan<byte> message)
    {
        List<(int, int, ulong, byte[])> fields = [];
        while (!message.IsEmpty)
        {
            ulong tag = ReadVarint(ref message);
            int field = (int)(tag >> 3);
            int wire = (int)(tag & 7);
            fields.Add(wire == BytesWire
                ? (field, wire, 0, Take(ref message, ReadVarint(ref message)).ToArray())
                : (field, wire, ReadNumber(ref message, wire), []));
        }

        return fields;
    }

    /// <summary>Numbers that lie one after the other.</summary>
    /// <exception cref="CaseFailureException">The bytes are not numbers.</exception>
    public static List<ulong> ReadPacked(ReadOnlySpan<byte> bytes, int wire)
    {
        List<ulong> numbers = [];
        while (!bytes.IsEmpty)
        {
            numbers.Add(ReadNumber(ref bytes, wire));
        }

        return numbers;
    }

    private static ulong ReadNumber(ref ReadOnlySpan<byte> message, int wire) => wire switch
    {
        VarintWire => ReadVarint(ref message),
        Fixed32Wire => BinaryPrimitives.ReadUInt32LittleEndian(Take(ref message, sizeof(uint))),
        Fixed64Wire => BinaryPrimitives.ReadUInt64LittleEndian(Take(ref message, sizeof(ulong))),
        _ => throw new CaseFailureException($"The client sent a body with the wire type {wire}."),
    };

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
