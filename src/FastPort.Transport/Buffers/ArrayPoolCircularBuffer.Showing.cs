namespace FastPort.Connections;

/// <content>
/// Shows bytes of other rings as if this ring held them: in two pieces, the second in place of the bytes after the wrap. All reading
/// members work as usual and copy nothing. While the ring shows such bytes, it must not return <see cref="_array"/>;
/// <see cref="_capacity"/> is the end of the first piece (not a power of two, so no reading member may use it as a mask), and
/// <see cref="_limit"/> is 0: no write fits, so the first write copies the unread bytes to an array that the ring rents.
/// </content>
public sealed partial class ArrayPoolCircularBuffer
{
    private bool _isShowing;

    // The ring that receives the bytes that follow; null if this ring does.
    private ArrayPoolCircularBuffer? _reservesIn;

    // The second piece; the first is in _array, before the wrap.
    private ReadOnlyMemory<byte> _next;

    /// <summary>
    /// Shows bytes of other arrays; the ring itself must have no unread bytes. The shown bytes must stay unchanged until they are consumed
    /// or until <see cref="StopShowing"/>.
    /// </summary>
    /// <param name="first">Bytes in an array, not empty.</param>
    /// <param name="second">Bytes that follow, in an array; empty for none.</param>
    internal void Show(ArraySegment<byte> first, ReadOnlyMemory<byte> second)
    {
        if (!TryReleaseWhenEmpty())
        {
            throw new InvalidOperationException($"The ring holds {Length} unread bytes; it can show other bytes only when it is empty.");
        }

        _array = first.Array;
        _isShowing = true;
        _head = first.Offset;
        _capacity = first.Offset + first.Count;
        _next = second;
        _length = first.Count + second.Length;
    }

    /// <summary>
    /// Sets the ring in which <see cref="TryReserve"/> reserves room: the ring that will receive the next bytes together with the bytes
    /// that the protocol leaves unread here. Null to reserve in this ring.
    /// </summary>
    internal void ReserveIn(ArrayPoolCircularBuffer? other) => _reservesIn = other;

    /// <summary>Drops the shown bytes, unread or not. Bytes that a write has copied to the ring's own array stay.</summary>
    internal void StopShowing()
    {
        if (_isShowing)
        {
            _readPosition += Length;
            _length = 0;
            ReturnArray();
        }
    }

    // The index at which reading continues after the end of the array.
    private int Wrap(int index)
    {
        index -= _capacity;
        if (_next.IsEmpty || !System.Runtime.InteropServices.MemoryMarshal.TryGetArray(_next, out ArraySegment<byte> next))
        {
            return index;
        }

        _next = default;
        _array = next.Array;
        _capacity = next.Offset + next.Count;
        return next.Offset + index;
    }

    private ReadOnlyMemory<byte> BehindWrap(int offset, int count) =>
        _next.IsEmpty ? new ReadOnlyMemory<byte>(_array, offset, count) : _next.Slice(offset, count);
}
