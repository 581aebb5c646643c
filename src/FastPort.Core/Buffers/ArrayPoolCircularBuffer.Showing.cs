namespace FastPort.Buffers;

/// <content>
/// Showing bytes that belong to others as if they were the ring's: in two pieces, as if the second lay behind the wrap. All reading members
/// work as always and copy nothing. While showing, <see cref="_array"/> is not the ring's to return, <see cref="_capacity"/> is where its
/// piece ends (no power of two, so no reading member may use it as a mask), and <see cref="_limit"/> is 0: no write fits, so the first one
/// moves what is unread to an array of the ring's own. </content>
public sealed partial class ArrayPoolCircularBuffer
{
    private bool _isShowing;

    // Where bytes that follow will lie, if that is not here.
    private ArrayPoolCircularBuffer? _reservesIn;

    // The second piece; what is in _array before the wrap is the first.
    private ReadOnlyMemory<byte> _next;

    /// <summary>
    /// Shows bytes in place of own ones, of which none may be unread. They must stay until they are consumed, or until
    /// <see cref="StopShowing"/>.
    /// </summary>
    /// <param name="first">Bytes in an array, not empty.</param>
    /// <param name="second">Bytes that follow, in an array; empty for none.</param>
    internal void Show(ArraySegment<byte> first, ReadOnlyMemory<byte> second)
    {
        if (!TryReleaseWhenEmpty())
        {
            throw new InvalidOperationException($"The ring holds {Length} unread bytes; it shows others only when it is empty.");
        }

        _array = first.Array;
        _isShowing = true;
        _head = first.Offset;
        _capacity = first.Offset + first.Count;
        _next = second;
        _length = first.Count + second.Length;
    }

    /// <summary>
    /// While a protocol is offered this ring though the next bytes, with those that it leaves unread, will come in another: that one, whose
    /// room <see cref="TryReserve"/> is to reserve. Null to reserve here.
    /// </summary>
    internal void ReserveIn(ArrayPoolCircularBuffer? other) => _reservesIn = other;

    /// <summary>Lets go of what is shown, unread or not. Bytes that a write has made the ring's own stay.</summary>
    internal void StopShowing()
    {
        if (_isShowing)
        {
            _readPosition += Length;
            _length = 0;
            ReturnArray();
        }
    }

    // Where the reading goes on that has come to the end of the array, or beyond.
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
