using System.Buffers.Binary;

namespace FastPort.WebSockets;

/// <summary>The kinds of WebSocket frames (RFC 6455, 5.2).</summary>
internal enum WebSocketOpcode
{
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

/// <summary>The header of a WebSocket frame (RFC 6455, 5.2).</summary>
/// <param name="Opcode">The kind; may be one that the standard does not know.</param>
/// <param name="IsFinal">Whether the frame ends its message.</param>
/// <param name="Reserved">The three reserved bits, which an extension would define.</param>
/// <param name="Mask">The masking key, as it lies in memory; null if the payload is not masked.</param>
/// <param name="Length">Bytes of the payload; negative if the peer wrote a number above 2^63 - 1.</param>
internal readonly record struct WebSocketHeader(WebSocketOpcode Opcode, bool IsFinal, int Reserved, uint? Mask, long Length)
{
    /// <summary>The longest header, in bytes.</summary>
    public const int MaxSize = 14;

    /// <summary>The reserved bit that permessage-deflate defines, RSV1 (RFC 7692, 6).</summary>
    public const int Compressed = 4;

    /// <summary>The longest payload of a control frame, in bytes (RFC 6455, 5.5).</summary>
    public const int MaxControlLength = 125;

    public bool IsControl => ((int)Opcode & 8) != 0;

    /// <summary>Whether the length is written in no more bytes than it needs (RFC 6455, 5.2).</summary>
    public bool IsShortest { get; private init; } = true;

    /// <summary>Reads a header.</summary>
    /// <param name="bytes">The beginning of a frame.</param>
    /// <param name="header">The header.</param>
    /// <returns>Bytes of the header; 0 if more bytes are needed.</returns>
    public static int Read(ReadOnlySpan<byte> bytes, out WebSocketHeader header)
    {
        header = default;
        if (bytes.Length < 2)
        {
            return 0;
        }

        bool isMasked = (bytes[1] & 0x80) != 0;
        int coded = bytes[1] & 0x7F;
        int lengthSize = coded switch { 126 => 2, 127 => 8, _ => 0 };
        int size = 2 + lengthSize + (isMasked ? 4 : 0);
        if (bytes.Length < size)
        {
            return 0;
        }

        long length = lengthSize switch
        {
            2 => BinaryPrimitives.ReadUInt16BigEndian(bytes[2..]),
            8 => BinaryPrimitives.ReadInt64BigEndian(bytes[2..]),
            _ => coded,
        };
        uint? mask = isMasked ? BitConverter.ToUInt32(bytes[(2 + lengthSize)..]) : null;
        header = new WebSocketHeader((WebSocketOpcode)(bytes[0] & 0x0F), (bytes[0] & 0x80) != 0, (bytes[0] >> 4) & 7, mask, length)
        {
            IsShortest = lengthSize switch { 2 => length > MaxControlLength, 8 => length is < 0 or > ushort.MaxValue, _ => true },
        };
        return size;
    }

    /// <summary>Writes the header of an unfragmented frame.</summary>
    /// <param name="destination">At least <see cref="MaxSize"/> bytes.</param>
    /// <param name="opcode">The kind.</param>
    /// <param name="length">Bytes of the payload.</param>
    /// <param name="mask">The masking key; null for a payload that is not masked.</param>
    /// <param name="reserved">The three reserved bits.</param>
    /// <returns>Bytes written.</returns>
    public static int Write(Span<byte> destination, WebSocketOpcode opcode, int length, uint? mask, int reserved = 0)
    {
        destination[0] = (byte)(0x80 | (reserved << 4) | (int)opcode);
        int masked = mask is null ? 0 : 0x80;
        int size = 2;
        if (length <= MaxControlLength)
        {
            destination[1] = (byte)(masked | length);
        }
        else if (length <= ushort.MaxValue)
        {
            destination[1] = (byte)(masked | 126);
            BinaryPrimitives.WriteUInt16BigEndian(destination[2..], (ushort)length);
            size = 4;
        }
        else
        {
            destination[1] = (byte)(masked | 127);
            BinaryPrimitives.WriteInt64BigEndian(destination[2..], length);
            size = 10;
        }

        if (mask is { } key)
        {
            BitConverter.TryWriteBytes(destination[size..], key);
            size += 4;
        }

        return size;
    }
}
