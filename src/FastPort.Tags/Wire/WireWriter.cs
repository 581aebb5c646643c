using System.Numerics;
using System.Runtime.InteropServices;

namespace FastPort.Tags.Wire;

/// <summary>Writes the fields of a Protocol Buffers message whose size was computed before.</summary>
internal ref struct WireWriter(Span<byte> destination)
{
    private Span<byte> _rest = destination;

    /// <summary>Bytes of a varint.</summary>
    public static int SizeOf(ulong value) => (64 - BitOperations.LeadingZeroCount(value | 1) + 6) / 7;

    /// <summary>Bytes of a number; nothing is written for 0.</summary>
    public static int NumberSize(int field, ulong value) => value == 0 ? 0 : SizeOf(Tag(field, WireType.Varint)) + SizeOf(value);

    /// <summary>Bytes of a field with a length; nothing is written if it is empty.</summary>
    public static int BytesSize(int field, int length) =>
        length == 0 ? 0 : SizeOf(Tag(field, WireType.Length)) + SizeOf((uint)length) + length;

    public void Number(int field, ulong value)
    {
        if (value != 0)
        {
            Varint(Tag(field, WireType.Varint));
            Varint(value);
        }
    }

    public void Bytes(int field, ReadOnlySpan<byte> bytes)
    {
        if (!bytes.IsEmpty)
        {
            Begin(field, bytes.Length);
            bytes.CopyTo(_rest);
            _rest = _rest[bytes.Length..];
        }
    }

    /// <summary>Writes values of fixed width, packed.</summary>
    public void Fixed<T>(int field, ReadOnlySpan<T> values)
        where T : unmanaged
    {
        ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(values);
        Span<byte> written = _rest;
        Bytes(field, bytes);
        if (!BitConverter.IsLittleEndian && !bytes.IsEmpty)
        {
            LittleEndian.Reverse<T>(written.Slice(written.Length - _rest.Length - bytes.Length, bytes.Length));
        }
    }

    /// <summary>Begins a message within the message; its bytes follow.</summary>
    public Span<byte> Begin(int field, int length)
    {
        Varint(Tag(field, WireType.Length));
        Varint((uint)length);
        return _rest[..length];
    }

    /// <summary>Skips bytes that were written to the result of <see cref="Begin"/>.</summary>
    public void Advance(int length) => _rest = _rest[length..];

    private static uint Tag(int field, WireType type) => (uint)((field << 3) | (int)type);

    private void Varint(ulong value)
    {
        int i = 0;
        for (; value >= 0x80; value >>= 7)
        {
            _rest[i++] = (byte)(value | 0x80);
        }

        _rest[i++] = (byte)value;
        _rest = _rest[i..];
    }
}
