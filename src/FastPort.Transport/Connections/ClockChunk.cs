using System.Numerics;

namespace FastPort.Connections;

/// <summary>
/// Holds up to 64 connections of a <see cref="ConnectionClock"/>. The data that a tick reads is contiguous, so that idle connections cost
/// the tick no separate cache miss.
/// <para>
/// <see cref="Add"/> and <see cref="Remove"/> run under the clock's lock, <see cref="TakeRequests"/> and <see cref="Visit"/> only in the
/// clock's tick, <see cref="Request"/> and <see cref="Lower(int, long)"/> on any thread. The tick resets a slot's due time before it visits
/// the slot; all other threads only lower the due time. A slot that is reused therefore needs no extra step: the next tick visits the new
/// connection, and a tick resets the due time of an empty slot when that time has passed.
/// </para>
/// </summary>
internal sealed class ClockChunk
{
    private const int Slots = 64;

    private readonly long[] _due = new long[Slots];
    private readonly Connection?[] _connections = new Connection?[Slots];

    // Bit sets of slots: to be visited by the next tick, to be visited by the current tick, in use.
    private ulong _requested;
    private ulong _taken;
    private ulong _used;

    // A lower bound of all due times.
    private long _nextDue = ConnectionClock.Never;

    public ClockChunk() => Array.Fill(_due, ConnectionClock.Never);

    /// <summary>The next chunk with free slots in the clock's list. Guarded by the clock's lock.</summary>
    public ClockChunk? NextWithRoom { get; set; }

    public bool IsFull => _used == ulong.MaxValue;

    /// <summary>Adds a connection, which the next tick visits. The chunk must not be full.</summary>
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

    /// <summary>Requests a visit of the slot by the next tick. The caller must make its change first: the tick sees it.</summary>
    public void Request(int slot)
    {
        // No fence between the caller's change and this read: the clock's tick executes a process-wide fence.
        ulong bit = 1UL << slot;
        if ((Volatile.Read(ref _requested) & bit) == 0)
        {
            Interlocked.Or(ref _requested, bit);
        }
    }

    /// <summary>Begins a tick: takes the requests. False if there are none.</summary>
    public bool TakeRequests()
    {
        _taken = Volatile.Read(ref _requested) == 0 ? 0 : Interlocked.Exchange(ref _requested, 0);
        return _taken != 0;
    }

    /// <summary>Visits the connections whose requests were taken and those that are due.</summary>
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

        // This order loses no due time: a time that another thread lowers concurrently is read below, or that thread lowers _nextDue after
        // this exchange.
        Interlocked.Exchange(ref _nextDue, ConnectionClock.Never);
        for (int slot = 0; slot < Slots; slot++)
        {
            Lower(ref _nextDue, Volatile.Read(ref _due[slot]));
        }
    }

    /// <summary>Lowers the slot's due time to this time; a later time is ignored. Safe from any thread.</summary>
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
