using System.Buffers.Binary;
using System.Text;

namespace FastPort.Framing;

/// <summary>
/// The part of Protocol Buffers that the control bodies need, so that Core does not depend on a serializer: varint and length-delimited
/// fields with numbers 1 to 15. Default values are omitted, as in proto3.
/// </summary>
internal static class ProtoBody
{
    public static int VarintSize(ulong value) => value == 0 ? 1 : (63 - System.Numerics.BitOperations.LeadingZeroCount(value)) / 7 + 1;

    public static int FieldSize(ulong value) => value == 0 ? 0 : 1 + VarintSize(value);

    public static int FieldSize(string value) => BytesFieldSize(Encoding.UTF8.GetByteCount(value));

    public static int WriteField(Span<byte> destination, int field, ulong value)
    {
        if (value == 0)
        {
            return 0;
        }

        destination[0] = (byte)(field << 3);
        return 1 + WriteVarint(destination[1..], value);
    }

    public static int WriteField(Span<byte> destination, int field, string value)
    {
        int head = WriteHead(destination, field, Encoding.UTF8.GetByteCount(value));
        return head + Encoding.UTF8.GetBytes(value, destination[head..]);
    }

    /// <summary>Size of a length-delimited field with this many bytes of content.</summary>
    public static int BytesFieldSize(int bytes) => bytes == 0 ? 0 : 1 + VarintSize((uint)bytes) + bytes;

    public static int WriteField(Span<byte> destination, int field, ReadOnlySpan<byte> value)
    {
        int head = WriteHead(destination, field, value.Length);
        value.CopyTo(destination[head..]);
        return head + value.Length;
    }

    /// <summary>Writes tag and length of a length-delimited field whose bytes follow.</summary>
    public static int WriteHead(Span<byte> destination, int field, int bytes)
    {
        if (bytes == 0)
        {
            return 0;
        }

        destination[0] = (byte)((field << 3) | 2);
        return 1 + WriteVarint(destination[1..], (uint)bytes);
    }

    private static int WriteVarint(Span<byte> destination, ulong value)
    {
        int i = 0;
        while (value >= 0x80)
        {
            destination[i++] = (byte)(value | 0x80);
            value >>= 7;
        }

        destination[i++] = (byte)value;
        return i;
    }
}

/// <summary>Reads the fields of a control body one by one; unknown fields are skipped, as Protocol Buffers requires.</summary>
internal ref struct ProtoBodyReader(ReadOnlySpan<byte> body)
{
    private static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private ReadOnlySpan<byte> _rest = body;

    /// <summary>Number of the current field.</summary>
    public uint Field { get; private set; }

    /// <summary>Value of the current field if it is a number.</summary>
    public ulong Value { get; private set; }

    /// <summary>Bytes of the current field if it is length-delimited.</summary>
    public ReadOnlySpan<byte> Bytes { get; private set; }

    /// <summary>Whether the current field is length-delimited.</summary>
    public bool IsBytes { get; private set; }

    /// <summary>Whether the body violates the format.</summary>
    public bool Malformed { get; private set; }

    /// <summary>Advances to the next field; false at the end or if the body is malformed.</summary>
    public bool Read()
    {
        if (_rest.IsEmpty)
        {
            return false;
        }

        if (!TryVarint(out ulong tag) || tag >> 3 is 0 or > 536_870_911)
        {
            return Fail();
        }

        Field = (uint)(tag >> 3);
        Value = 0;
        Bytes = default;
        IsBytes = false;
        switch (tag & 7)
        {
            case 0:
                if (!TryVarint(out ulong value))
                {
                    return Fail();
                }

                Value = value;
                return true;
            case 1:
                return TrySkip(8);
            case 2:
                if (!TryVarint(out ulong length) || length > (ulong)_rest.Length)
                {
                    return Fail();
                }

                Bytes = _rest[..(int)length];
                IsBytes = true;
                _rest = _rest[(int)length..];
                return true;
            case 5:
                return TrySkip(4);
            default:
                return Fail();
        }
    }

    /// <summary>The current field as text; invalid UTF-8 makes the body malformed.</summary>
    public string ReadString()
    {
        try
        {
            return IsBytes ? StrictUtf8.GetString(Bytes) : Wrong();
        }
        catch (DecoderFallbackException)
        {
            return Wrong();
        }
    }

    private string Wrong()
    {
        Malformed = true;
        _rest = default;
        return string.Empty;
    }

    private bool Fail()
    {
        Malformed = true;
        _rest = default;
        return false;
    }

    private bool TrySkip(int count)
    {
        if (_rest.Length < count)
        {
            return Fail();
        }

        Value = count == 8 ? BinaryPrimitives.ReadUInt64LittleEndian(_rest) : BinaryPrimitives.ReadUInt32LittleEndian(_rest);
        _rest = _rest[count..];
        return true;
    }

    private bool TryVarint(out ulong value)
    {
        value = 0;
        for (int i = 0; i < 10 && i < _rest.Length; i++)
        {
            value |= (ulong)(_rest[i] & 0x7F) << (7 * i);
            if (_rest[i] < 0x80)
            {
                _rest = _rest[(i + 1)..];
                return true;
            }
        }

        return false;
    }
}
