using System.Buffers.Binary;

namespace FastPort.Redis.Wire;

/// <summary>
/// A message for a routing id. Fields, little-endian: correlation (8; 0 for a one-way message), instance that waits for the confirmation
/// (8), token of the id (8), message type (2), hops (1), length of the id (2), id, body.
/// </summary>
internal readonly ref struct RelayEntry
{
    /// <summary>Bytes before the id.</summary>
    public const int FixedSize = 29;

    /// <summary>How often a relay may be forwarded because its target has moved in the meantime.</summary>
    public const int MaxHops = 3;

    public ulong Correlation { get; init; }

    public ulong Origin { get; init; }

    public long Token { get; init; }

    public ushort Type { get; init; }

    public byte Hops { get; init; }

    public ReadOnlySpan<byte> Id { get; init; }

    public ReadOnlySpan<byte> Body { get; init; }

    public static bool TryRead(ReadOnlySpan<byte> bytes, out RelayEntry entry)
    {
        entry = default;
        if (bytes.Length < FixedSize)
        {
            return false;
        }

        int id = BinaryPrimitives.ReadUInt16LittleEndian(bytes[27..]);
        if (bytes.Length - FixedSize < id)
        {
            return false;
        }

        entry = new RelayEntry
        {
            Correlation = BinaryPrimitives.ReadUInt64LittleEndian(bytes),
            Origin = BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]),
            Token = BinaryPrimitives.ReadInt64LittleEndian(bytes[16..]),
            Type = BinaryPrimitives.ReadUInt16LittleEndian(bytes[24..]),
            Hops = bytes[26],
            Id = bytes.Slice(FixedSize, id),
            Body = bytes[(FixedSize + id)..],
        };
        return true;
    }

    /// <summary>Writes everything before the body.</summary>
    public static void WriteHead(
        Span<byte> bytes, ulong correlation, ulong origin, long token, ushort type, byte hops, ReadOnlySpan<byte> id)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, correlation);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[8..], origin);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[16..], token);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[24..], type);
        bytes[26] = hops;
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[27..], (ushort)id.Length);
        id.CopyTo(bytes[FixedSize..]);
    }
}
