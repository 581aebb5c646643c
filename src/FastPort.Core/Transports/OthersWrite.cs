using System.Buffers;
using FastPort.Buffers;

namespace FastPort.Transports;

/// <summary>
/// The write of a thread that is not its connection's loop: into a ring of its own, which joins what waits when the write ends. So a thread that stops in the middle of a
/// write holds up other such threads only, by <see cref="_writers"/>, which is taken before the output's gate. Between writes the ring holds no array.
/// </summary>
internal sealed class OthersWrite(int maximumBytes, ArrayPool<byte> pool)
{
    private readonly Lock _writers = new();
    private SendRing _ring = new(maximumBytes, pool);

    /// <summary>What the write under way has written.</summary>
    public SendRing Ring => _ring;

    /// <summary>Bytes of the write under way.</summary>
    public long Bytes => _ring.Ring.Length + _ring.BorrowedBytes;

    /// <summary>Begins a write: other threads wait until <see cref="Leave"/>.</summary>
    public void Enter() => _writers.Enter();

    /// <summary>The ring to write to, with room for what may still wait. Where there is no memory it leaves, as the write has not begun, and throws.</summary>
    /// <param name="waiting">Bytes that wait in rings already.</param>
    /// <param name="expected">Bytes to make room for; 0 where they will be copied.</param>
    public ArrayPoolCircularBuffer Begin(int waiting, int expected)
    {
        try
        {
            _ring.Ring.LimitTo(Math.Max(maximumBytes - waiting, 0));
            _ring.Ring.TryReserve(expected);
            return _ring.Ring;
        }
        catch
        {
            _writers.Exit();
            throw;
        }
    }

    /// <summary>Makes what was written the last of what waits; under the output's gate. False where there is no memory for a copy: nothing is changed then.</summary>
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

    /// <summary>Ends the write, after <see cref="TryJoin"/> or <see cref="Drop"/>, outside the gate.</summary>
    public void Leave()
    {
        _ring.Ring.TryReleaseWhenEmpty();
        _writers.Exit();
    }
}
