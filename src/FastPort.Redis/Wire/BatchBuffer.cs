using System.Buffers;
using System.Buffers.Binary;

namespace FastPort.Redis.Wire;

/// <summary>
/// A batch while entries are added to it. Layout, little-endian: "FPB" and the version (4), the sender's instance (8), the batch's number
/// (8), then entries of kind (1), length (4) and payload. Not thread-safe.
/// </summary>
internal sealed class BatchBuffer
{
    public const int HeaderSize = 20;
    public const int EntryHeadSize = 5;

    /// <summary>The version of the layout; a node ignores batches of another one.</summary>
    public const byte Version = 1;

    // The largest buffer that an idle link keeps; also its initial size.
    private const int KeptBytes = 128 * 1024;
    private const int FirstBytes = 16 * 1024;

    private byte[] _bytes = ArrayPool<byte>.Shared.Rent(FirstBytes);

    /// <summary>Bytes of the batch, with its header.</summary>
    public int Length { get; private set; } = HeaderSize;

    public bool IsEmpty => Length == HeaderSize;

    public ReadOnlyMemory<byte> Memory => _bytes.AsMemory(0, Length);

    /// <summary>Adds an entry and returns where its payload is to be written.</summary>
    public Span<byte> Add(EntryKind kind, int size)
    {
        int needed = Length + EntryHeadSize + size;
        if (needed > _bytes.Length)
        {
            byte[] larger = ArrayPool<byte>.Shared.Rent(Math.Max(needed, _bytes.Length * 2));
            _bytes.AsSpan(0, Length).CopyTo(larger);
            ArrayPool<byte>.Shared.Return(_bytes);
            _bytes = larger;
        }

        Span<byte> entry = _bytes.AsSpan(Length);
        entry[0] = (byte)kind;
        BinaryPrimitives.WriteInt32LittleEndian(entry[1..], size);
        Length = needed;
        return entry.Slice(EntryHeadSize, size);
    }

    /// <summary>Removes what was added since the batch had this length.</summary>
    public void CutTo(int length) => Length = length;

    public void Seal(ulong sender, ulong number)
    {
        "FPB"u8.CopyTo(_bytes);
        _bytes[3] = Version;
        BinaryPrimitives.WriteUInt64LittleEndian(_bytes.AsSpan(4), sender);
        BinaryPrimitives.WriteUInt64LittleEndian(_bytes.AsSpan(12), number);
    }

    public void Clear() => Length = HeaderSize;

    /// <summary>Returns a large array with its contents. For a pause: while batches are large, each would rent again.</summary>
    public void Trim()
    {
        if (_bytes.Length > KeptBytes)
        {
            Return();
            _bytes = ArrayPool<byte>.Shared.Rent(FirstBytes);
        }

        Clear();
    }

    /// <summary>Returns the array. The batch can no longer be used.</summary>
    public void Return()
    {
        ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = [];
    }
}
