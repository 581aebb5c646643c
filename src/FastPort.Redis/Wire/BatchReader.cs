using System.Buffers.Binary;

namespace FastPort.Redis.Wire;

/// <summary>Reads a received batch, which may contain anything.</summary>
internal ref struct BatchReader
{
    private ReadOnlySpan<byte> _rest;

    private BatchReader(ReadOnlySpan<byte> entries) => _rest = entries;

    public ulong Sender { get; private init; }

    public ulong Number { get; private init; }

    /// <summary>The current entry's kind, possibly one of a later version.</summary>
    public EntryKind Kind { get; private set; }

    public ReadOnlySpan<byte> Payload { get; private set; }

    /// <summary>Whether the batch ends within an entry.</summary>
    public bool IsTruncated { get; private set; }

    /// <summary>Whether there is no further entry.</summary>
    public readonly bool IsAtEnd => _rest.IsEmpty || IsTruncated;

    /// <summary>False if the bytes are not a batch of this version.</summary>
    public static bool TryOpen(ReadOnlySpan<byte> bytes, out BatchReader reader)
    {
        reader = default;
        if (bytes.Length < BatchBuffer.HeaderSize || !bytes.StartsWith("FPB"u8) || bytes[3] != BatchBuffer.Version)
        {
            return false;
        }

        reader = new BatchReader(bytes[BatchBuffer.HeaderSize..])
        {
            Sender = BinaryPrimitives.ReadUInt64LittleEndian(bytes[4..]),
            Number = BinaryPrimitives.ReadUInt64LittleEndian(bytes[12..]),
        };
        return true;
    }

    /// <summary>Reads the entries of a batch that this node has made.</summary>
    public static BatchReader OpenOwn(ReadOnlySpan<byte> bytes) => new(bytes[BatchBuffer.HeaderSize..]);

    public bool Read()
    {
        if (_rest.IsEmpty)
        {
            return false;
        }

        if (_rest.Length < BatchBuffer.EntryHeadSize)
        {
            IsTruncated = true;
            return false;
        }

        int size = BinaryPrimitives.ReadInt32LittleEndian(_rest[1..]);
        if (size < 0 || size > _rest.Length - BatchBuffer.EntryHeadSize)
        {
            IsTruncated = true;
            return false;
        }

        Kind = (EntryKind)_rest[0];
        Payload = _rest.Slice(BatchBuffer.EntryHeadSize, size);
        _rest = _rest[(BatchBuffer.EntryHeadSize + size)..];
        return true;
    }
}
