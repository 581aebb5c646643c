using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace FastPort.Tags;

/// <summary>A growing array of values, of which one owner keeps the only copy of this struct.</summary>
internal struct Column<T>
    where T : unmanaged
{
    private T[]? _items;

    public int Count { get; private set; }

    public readonly ReadOnlySpan<T> Items => _items.AsSpan(0, Count);

    public readonly T this[int index] => Items[index];

    public void Add(T item)
    {
        T[]? items = _items;
        int count = Count;
        if (items is not null && (uint)count < (uint)items.Length)
        {
            items[count] = item;
            Count = count + 1;
        }
        else
        {
            Append(1)[0] = item;
        }
    }

    /// <summary>Room for more items, which the caller fills.</summary>
    public Span<T> Append(int count)
    {
        if (Count + count > (_items?.Length ?? 0))
        {
            Grow(checked(Count + count));
        }

        Count += count;
        return _items.AsSpan(Count - count, count);
    }

    public void Append(ReadOnlySpan<T> items) => items.CopyTo(Append(items.Length));

    /// <summary>Appends values that lie in little-endian order; false if the length is not a multiple of their size.</summary>
    public bool TryAppendLittleEndian(ReadOnlySpan<byte> bytes)
    {
        int size = System.Runtime.CompilerServices.Unsafe.SizeOf<T>();
        if (bytes.Length % size != 0)
        {
            return false;
        }

        Span<byte> room = MemoryMarshal.AsBytes(Append(bytes.Length / size));
        bytes.CopyTo(room);
        LittleEndian.Reverse<T>(room);
        return true;
    }

    /// <summary>Replaces an item.</summary>
    public readonly void Set(int index, T item) => _items.AsSpan(0, Count)[index] = item;

    /// <summary>Repeats the only item.</summary>
    public void Repeat(int count)
    {
        T item = this[0];
        Append(count - 1).Fill(item);
    }

    public void Clear() => Count = 0;

    [MemberNotNull(nameof(_items))]
    private void Grow(int count) => Array.Resize(ref _items, Math.Max(count, Math.Max(16, 2 * Count)));
}
