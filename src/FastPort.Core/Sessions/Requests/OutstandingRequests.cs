using FastPort.Connections;

namespace FastPort.Sessions.Requests;

/// <summary>
/// This side's requests in flight, by correlation. The thread that removes an entry completes it, so each is completed exactly once.
/// <see cref="_gate"/> guards all fields; no callback runs under it.
/// <para>
/// A request is in the slot that the low bits of its correlation name. Correlations are consecutive, so a slot is free again before its
/// turn comes, unless its request is older than the table's size: then its number is skipped.
/// </para>
/// </summary>
internal sealed class OutstandingRequests
{
    private readonly Lock _gate = new();

    // A power of two, at most half full, so that few numbers are skipped. Allocated for the first request: many sessions of a server never
    // send one.
    private PendingReply?[] _slots = [];
    private int _count;
    private uint _last;
    private int _withDeadline;

    // No request expires earlier. The request with this deadline may have been removed.
    private long _nextDeadline = ConnectionClock.Never;
    private bool _closed;

    /// <summary>Number of requests in flight.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _count;
            }
        }
    }

    /// <summary>Adds a request and assigns a correlation, never 0; false if the session is over.</summary>
    public bool TryAdd(PendingReply pending, out uint correlation)
    {
        lock (_gate)
        {
            correlation = 0;
            if (_closed)
            {
                return false;
            }

            if (2 * _count >= _slots.Length)
            {
                Grow();
            }

            PendingReply?[] slots = _slots;
            uint mask = (uint)slots.Length - 1;
            do
            {
                _last++;
            }
            while (slots[_last & mask] is not null || _last == 0);
            slots[_last & mask] = pending;
            _count++;
            pending.Correlation = correlation = _last;
            if (pending.DeadlineMilliseconds != 0)
            {
                _withDeadline++;
                _nextDeadline = Math.Min(_nextDeadline, pending.DeadlineMilliseconds);
            }

            return true;
        }
    }

    /// <summary>Removes a request, because its reply arrived or its caller canceled it; false if it is not in flight.</summary>
    public bool TryRemove(uint correlation, ushort? type, out PendingReply? pending)
    {
        lock (_gate)
        {
            pending = Find(correlation, type);
            if (pending is null)
            {
                return false;
            }

            Remove(pending);
            return true;
        }
    }

    /// <summary>The request, which stays in flight; false if it is not.</summary>
    public bool TryFind(uint correlation, ushort? type, out PendingReply? pending)
    {
        lock (_gate)
        {
            pending = Find(correlation, type);
            return pending is not null;
        }
    }

    /// <summary>Changes the deadline of a request, in milliseconds of the clock, if it is in flight; 0 for none.</summary>
    public void SetDeadline(PendingReply pending, long milliseconds)
    {
        lock (_gate)
        {
            if (!ReferenceEquals(Find(pending.Correlation, pending.Type), pending))
            {
                return;
            }

            _withDeadline += (milliseconds != 0 ? 1 : 0) - (pending.DeadlineMilliseconds != 0 ? 1 : 0);
            pending.DeadlineMilliseconds = milliseconds;
            if (milliseconds != 0)
            {
                _nextDeadline = Math.Min(_nextDeadline, milliseconds);
            }
        }
    }

    /// <summary>
    /// Removes and returns the requests whose deadline has passed; null if there are none. Also returns when to check next.
    /// </summary>
    public List<(uint Correlation, PendingReply Pending)>? RemoveExpired(long nowMilliseconds, out long next)
    {
        lock (_gate)
        {
            next = _withDeadline == 0 ? ConnectionClock.Never : _nextDeadline;
            if (nowMilliseconds < next)
            {
                _nextDeadline = next;
                return null;
            }

            next = ConnectionClock.Never;
            List<(uint, PendingReply)>? expired = null;
            foreach (PendingReply? pending in _slots)
            {
                if (pending is null || pending.DeadlineMilliseconds == 0)
                {
                    continue;
                }

                if (nowMilliseconds >= pending.DeadlineMilliseconds)
                {
                    (expired ??= []).Add((pending.Correlation, pending));
                    Remove(pending);
                }
                else
                {
                    next = Math.Min(next, pending.DeadlineMilliseconds);
                }
            }

            _nextDeadline = next;
            return expired;
        }
    }

    /// <summary>Accepts no more requests, and removes and returns all requests in flight.</summary>
    public PendingReply[] Close()
    {
        lock (_gate)
        {
            _closed = true;
            PendingReply[] all = [.. _slots.OfType<PendingReply>()];
            _slots = [];
            _count = _withDeadline = 0;
            return all;
        }
    }

    private PendingReply? Find(uint correlation, ushort? type)
    {
        PendingReply?[] slots = _slots;
        uint slot = correlation & ((uint)slots.Length - 1);
        return slot < (uint)slots.Length && slots[slot] is { } pending && pending.Correlation == correlation
            && (type is null || pending.Type == type)
            ? pending
            : null;
    }

    private void Remove(PendingReply pending)
    {
        _slots[pending.Correlation & ((uint)_slots.Length - 1)] = null;
        _count--;
        if (pending.DeadlineMilliseconds != 0)
        {
            _withDeadline--;
        }
    }

    // Requests in different slots of the smaller table are in different slots of the larger one.
    private void Grow()
    {
        PendingReply?[] all = _slots;
        _slots = new PendingReply?[Math.Max(16, 2 * all.Length)];
        foreach (PendingReply? pending in all)
        {
            if (pending is not null)
            {
                _slots[pending.Correlation & ((uint)_slots.Length - 1)] = pending;
            }
        }
    }
}
