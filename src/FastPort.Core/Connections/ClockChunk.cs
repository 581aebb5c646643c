using System.Numerics;

namespace FastPort.Connections;

/// <summary>
/// Room for 64 connections of a <see cref="ConnectionClock"/>. What a tick looks at lies close together, so that connections with nothing
/// to do cost it no cache miss of their own.
/// <para>
/// <see cref="Add"/> and <see cref="Remove"/> run under the clock's lock, <see cref="TakeRequests"/> and <see cref="Visit"/> in its tick
/// alone, <see cref="Request"/> and <see cref="Lower(int, long)"/> on any thread. A tick forgets a slot's time before it visits it, and all
/// others only make it earlier. So a slot that changes its owner needs no care: the new one is visited at the next tick, and the time of an
/// empty one is forgotten when it has come.
/// </para>
/// </summary>
internal sealed class ClockChunk
{
    private const int Slots = 64;

    private readonly long[] _due = new long[Slots];
    private readonly Connection?[] _connections = new Connection?[Slots];

    // Bits of the slots: to be visited by the next tick, by the present one, and those in use.
    private ulong _requested;
    private ulong _taken;
    private ulong _used;

    // No slot is due earlier.
    private long _nextDue = ConnectionClock.Never;

    public ClockChunk() => Array.Fill(_due, ConnectionClock.Never);

    /// <summary>The clock's next chunk with room; its own, under its lock.</summary>
    public ClockChunk? NextWithRoom { get; set; }

    public bool IsFull => _used == ulong.MaxValue;

    /// <summary>Takes a connection in, to be visited by the next tick; there must be room.</summary>
    public void Add(Connection connection)
    {
        int slot = BitOperations.TrailingZeroCount(~_used);
        _used |= 1UL << slot;
        Volatile.Write(ref _connections[slot], connection);
        connection.EnterClock(this, slot);
        Request(slot);
    }

    public void Remove(int slot)
    {
        _used &= ~(1UL << slot);
        Volatile.Write(ref _connections[slot], null);
    }

    /// <summary>Has the slot visited by the next tick. The caller has made the change that is to be seen there.</summary>
    public void Request(int slot)
    {
        // No fence between the caller's change and this look: the clock's tick has one for all threads.
        ulong bit = 1UL << slot;
        if ((Volatile.Read(ref _requested) & bit) == 0)
        {
            Interlocked.Or(ref _requested, bit);
        }
    }

    /// <summary>Begins a tick: takes the requests. False where there are none.</summary>
    public bool TakeRequests()
    {
        _taken = Volatile.Read(ref _requested) == 0 ? 0 : Interlocked.Exchange(ref _requested, 0);
        return _taken != 0;
    }

    /// <summary>Visits the connections whose requests were taken and those whose time has come.</summary>
    public void Visit(long nowMilliseconds)
    {
        ulong visit = _taken;
        if (nowMilliseconds >= Volatile.Read(ref _nextDue))
        {
            for (int slot = 0; slot < Slots; slot++)
            {
                visit |= _due[slot] <= nowMilliseconds ? 1UL << slot : 0;
            }
        }

        if (visit == 0)
        {
            return;
        }

        for (; visit != 0; visit &= visit - 1)
        {
            int slot = BitOperations.TrailingZeroCount(visit);
            Interlocked.Exchange(ref _due[slot], ConnectionClock.Never);
            if (Volatile.Read(ref _connections[slot]) is { } connection)
            {
                Lower(ref _due[slot], connection.Tick(nowMilliseconds, (_taken & (1UL << slot)) != 0));
            }
        }

        // In this order: a time that becomes earlier meanwhile is found below, or makes this one earlier after it.
        Interlocked.Exchange(ref _nextDue, ConnectionClock.Never);
        for (int slot = 0; slot < Slots; slot++)
        {
            Lower(ref _nextDue, Volatile.Read(ref _due[slot]));
        }
    }

    /// <summary>Has the slot visited at this time, unless it is earlier anyway. Any thread.</summary>
    public void Lower(int slot, long due)
    {
        Lower(ref _due[slot], due);
        Lower(ref _nextDue, due);
    }

    private static void Lower(ref long at, long due)
    {
        long seen = Volatile.Read(ref at);
        while (due < seen)
        {
            long before = Interlocked.CompareExchange(ref at, due, seen);
            if (before == seen)
            {
                return;
            }

            seen = before;
        }
    }
}
