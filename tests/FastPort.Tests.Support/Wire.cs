using System.Text;

namespace FastPort.Tests.Support;

/// <summary>Builds frames and protobuf fields byte by byte from the protocol page, without the code under test.</summary>
internal static class Wire
{
    public const ushort Hello = 1;
    public const ushort Ping = 2;
    public const ushort Goodbye = 3;
    public const ushort Cancel = 9;

    public const byte Reply = 1;
    public const byte Error = 2;
    public const byte OneWay = 4;
    public const byte Timing = 8;

    public static byte[] Frame(ushort type, byte flags, uint correlation, byte[] body, byte version = 1, uint? length = null)
    {
        uint stated = length ?? (uint)(8 + body.Length);
        return
        [
            (byte)stated, (byte)(stated >> 8), (byte)(stated >> 16), (byte)(stated >> 24),
            (byte)type, (byte)(type >> 8), flags, version,
            (byte)correlation, (byte)(correlation >> 8), (byte)(correlation >> 16), (byte)(correlation >> 24),
            .. body,
        ];
    }

    public static byte[] Request(ushort type, uint correlation, byte[]? body = null, byte flags = 0) =>
        Frame(type, flags, correlation, body ?? []);

    public static byte[] Post(ushort type, byte[]? body = null) => Frame(type, OneWay, 0, body ?? []);

    public static byte[] PingRequest(uint correlation) => Request(Ping, correlation);

    public static byte[] HelloRequest(uint correlation, string routingId = "", string token = "", string name = "", byte flags = 0) =>
        Request(Hello, correlation, [.. Text(1, routingId), .. Text(2, token), .. Text(3, name)], flags);

    public static byte[] GoodbyePost(uint code = 0, string reason = "") => Post(Goodbye, [.. Number(1, code), .. Text(2, reason)]);

    public static byte[] CancelPost(uint correlation) => Post(Cancel, Number(1, correlation));

    public static byte[] Number(int field, ulong value) => value == 0 ? [] : [(byte)(field << 3), .. Varint(value)];

    public static byte[] Text(int field, string value)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(value);
        return bytes.Length == 0 ? [] : [(byte)((field << 3) | 2), .. Varint((ulong)bytes.Length), .. bytes];
    }

    public static byte[] Varint(ulong value)
    {
        List<byte> bytes = [];
        for (; value > 127; value >>= 7)
        {
            bytes.Add((byte)((value & 127) | 128));
        }

        bytes.Add((byte)value);
        return [.. bytes];
    }

    public static byte[] Bytes(int count, int seed = 1)
    {
        byte[] bytes = new byte[count];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }
}

/// <summary>A frame as a peer read it.</summary>
internal sealed record WireFrame(ushort Type, byte Flags, byte Version, uint Correlation, ulong Received, ulong Sent, byte[] Body)
{
    public bool IsError => (Flags & Wire.Error) != 0;

    public bool IsTimed => (Flags & (Wire.Reply | Wire.Timing)) == (Wire.Reply | Wire.Timing);

    /// <summary>Varint field of the body; 0 where it is missing.</summary>
    public ulong NumberAt(int field) => Fields().FirstOrDefault(f => f.Field == field).Number;

    public string TextAt(int field) => Encoding.UTF8.GetString(BytesAt(field));

    /// <summary>Length-delimited field of the body; empty where it is missing.</summary>
    public byte[] BytesAt(int field) => Fields().FirstOrDefault(f => f.Field == field).Bytes ?? [];

    /// <summary>How often a field stands in the body.</summary>
    public int CountAt(int field) => Fields().Count(f => f.Field == field);

    /// <summary>The messages in a repeated field.</summary>
    public IReadOnlyList<WireFrame> MessagesAt(int field) =>
        [.. Fields().Where(f => f.Field == field).Select(f => this with { Body = f.Bytes! })];

    public uint ErrorCode => (uint)NumberAt(1);

    private IEnumerable<(int Field, ulong Number, byte[]? Bytes)> Fields()
    {
        int at = 0;
        while (at < Body.Length)
        {
            ulong tag = Varint(ref at);
            ulong value = Varint(ref at);
            if ((tag & 7) == 2)
            {
                yield return ((int)(tag >> 3), 0, Body[at..(at + (int)value)]);
                at += (int)value;
            }
            else
            {
                yield return ((int)(tag >> 3), value, null);
            }
        }
    }

    private ulong Varint(ref int at)
    {
        ulong value = 0;
        for (int shift = 0; ; shift += 7)
        {
            byte next = Body[at++];
            value |= (ulong)(next & 127) << shift;
            if (next < 128)
            {
                return value;
            }
        }
    }
}
