using System.Buffers;
using FastPort.Buffers;

namespace FastPort.Transports;

/// <summary>
/// The ring of one writer at a time, which joins what waits to be sent when the write ends. So nothing of the output is locked while a body
/// is encoded. Owned by the writer between the beginning and the end of its write.
/// </summary>
internal sealed class WriteRing(int maximumBytes, ArrayPool<byte> pool)
{
    private SendRing _ring = new(maximumBytes, pool);

    /// <summary>Bytes of the write under way.</summary>
    public long Bytes => _ring.Ring.Length + _ring.BorrowedBytes;

    /// <summary>Those of it that lie in the ring.</summary>
    public int RingBytes => _ring.Ring.Length;

    /// <summary>Whether nothing was written, not even a segment without bytes.</summary>
    public bool IsEmpty => _ring.IsEmpty;

    /// <summary>The ring to write to, with room for what may still wait.</summary>
    /// <param name="waiting">Bytes that wait in rings already.</param>
    /// <param name="expected">Bytes to make room for; 0 where they will be copied.</param>
    public ArrayPoolCircularBuffer Begin(int waiting, int expected)
    {
        _ring.Ring.LimitTo(Math.Max(maximumBytes - waiting, 0));
        _ring.Ring.TryReserve(expected);
        return _ring.Ring;
    }

    /// <inheritdoc cref="SendRing.TryBorrow"/>
    public bool TryBorrow(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) => _ring.TryBorrow(memory, release, state);

    /// <summary>
    /// Makes what was written the last of what waits. False where there is no memory for a copy: nothing is changed then.
    /// </summary>
    /// <param name="filling">What waits; the written ring itself afterwards, where that one was empty.</param>
    public bool TryJoin(ref SendRing filling)
    {
        if (filling.IsEmpty)
        {
            (filling, _ring) = (_ring, filling);
            filling.Ring.LimitTo(maximumBytes);
            return true;
        }

        return _ring.TryMoveTo(filling);
    }

    /// <summary>Drops what was written.</summary>
    /// <param name="release">Told of each segment; null where the writer is told that it was not lent.</param>
    public void Drop(Action<BorrowedSegments.Segment>? release)
    {
        while (_ring.TryDrop(out BorrowedSegments.Segment dropped))
        {
            release?.Invoke(dropped);
        }

        _ring.Ring.Consume(_ring.Ring.Length);
    }

    /// <summary>Gives the array back, after the end of a write.</summary>
    public void Rest() => _ring.Ring.TryReleaseWhenEmpty();
}
