using System.Buffers.Binary;
using System.Text;

namespace FastPort.Comparisons.Hostile;

/// <summary>Frames of the wire protocol (docs/protocol.md), right ones and those that no client would send.</summary>
internal static class HostileFrames
{
    public const ushort Hello = 1;
    public const ushort Ping = 2;
    public const ushort Relay = 4;
    public const ushort Subscribe = 5;
    public const ushort Unsubscribe = 6;
    public const ushort Publish = 7;
    public const ushort Cancel = 9;
    public const ushort Echo = 0x0100;
    public const ushort Source = 0x0103;
    public const ushort Status = 0x0104;

    public const byte Reply = 1;
    public const byte Error = 2;
    public const byte OneWay = 4;

    public const int HeaderBytes = 12;

    private const int LengthBytes = 4;
    private const int Varint = 0;
    private const int Bytes = 2;

    /// <summary>A frame; one-way where the correlation is 0.</summary>
    public static byte[] Frame(ushort type, uint correlation, params ReadOnlySpan<byte> body) =>
        [.. Header(type, correlation == 0 ? OneWay : (byte)0, correlation, body.Length), .. body];

    /// <summary>A frame's header, which may say anything.</summary>
    public static byte[] Header(ushort type, byte flags, uint correlation, int bodyBytes)
    {
        byte[] header = new byte[HeaderBytes];
        BinaryPrimitives.WriteInt32LittleEndian(header, HeaderBytes - LengthBytes + bodyBytes);
        BinaryPrimitives.WriteUInt16LittleEndian(header.AsSpan(4), type);
        header[6] = flags;
        header[7] = 1;
        BinaryPrimitives.WriteUInt32LittleEndian(header.AsSpan(8), correlation);
        return header;
    }

    /// <summary>The answer to a Ping.</summary>
    public static byte[] Pong(uint correlation) => Header(Ping, Reply, correlation, 0);

    /// <summary>A Hello.</summary>
    public static byte[] HelloFrame(string routingId, string token) =>
        Frame(Hello, 1, [.. Field(1, routingId), .. Field(2, token), .. Field(3, "hostile")]);

    /// <summary>A length-delimited field of a body; nothing where it is empty.</summary>
    public static byte[] Field(int number, ReadOnlySpan<byte> value) =>
        value.IsEmpty ? [] : [(byte)((number << 3) | Bytes), .. Number((ulong)value.Length), .. value];

    public static byte[] Field(int number, string value) => Field(number, Encoding.UTF8.GetBytes(value));

    /// <summary>A number's field.</summary>
    public static byte[] Field(int number, ulong value) => [(byte)((number << 3) | Varint), .. Number(value)];

    /// <summary>The numbers among a body's fields, by field; fields with bytes are skipped.</summary>
    public static Dictionary<int, ulong> Numbers(ReadOnlySpan<byte> body)
    {
        var numbers = new Dictionary<int, ulong>();
        while (!body.IsEmpty)
        {
            ulong tag = ReadNumber(ref body);
            ulong value = ReadNumber(ref body);
            if ((tag & 7) == Bytes)
            {
                body = body[(int)value..];
            }
            else
            {
                numbers[(int)(tag >> 3)] = value;
            }
        }

        return numbers;
    }

    /// <summary>The bytes of a field; empty where there is none.</summary>
    public static byte[] BytesOf(ReadOnlySpan<byte> body, int number)
    {
        while (!body.IsEmpty)
        {
            ulong tag = ReadNumber(ref body);
            ulong value = ReadNumber(ref body);
            if ((tag & 7) == Bytes)
            {
                if ((int)(tag >> 3) == number)
                {
                    return body[..(int)value].ToArray();
                }

                body = body[(int)value..];
            }
        }

        return [];
    }

    private static byte[] Number(ulong value) => value < 0x80 ? [(byte)value] : [(byte)(value | 0x80), .. Number(value >> 7)];

    private static ulong ReadNumber(ref ReadOnlySpan<byte> bytes)
    {
        ulong value = 0;
        int shift = 0;
        byte next;
        do
        {
            next = bytes[0];
            bytes = bytes[1..];
            value |= (ulong)(next & 0x7F) << shift;
            shift += 7;
        }
        while (next >= 0x80);
        return value;
    }
}
