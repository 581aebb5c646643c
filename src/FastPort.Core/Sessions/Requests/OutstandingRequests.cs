using FastPort.Connections;

namespace FastPort.Sessions.Requests;

/// <summary>
/// The requests this side has in flight, by correlation. Whoever removes an entry is the one who completes it, so each is completed
/// exactly once. <see cref="_gate"/> guards everything; nothing is called under it.
/// </summary>
internal sealed class OutstandingRequests
{
    private readonly Lock _gate = new();

    // Made for the first request: many sessions of a server never make one.
    private Dictionary<uint, PendingReply>? _pending;
    private uint _last;
    private int _withDeadline;

    // No request expires earlier. The one that would have may be gone.
    private long _nextDeadline = ConnectionClock.Never;
    private bool _closed;

    /// <summary>Requests in flight.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _pending?.Count ?? 0;
            }
        }
    }

    /// <summary>Takes a request in and gives it a correlation, never 0; false where the session is over.</summary>
    public bool TryAdd(PendingReply pending, out uint correlation)
    {
        lock (_gate)
        {
            correlation = 0;
            if (_closed)
            {
                return false;
            }

            _pending ??= [];
            do
            {
                _last = _last == uint.MaxValue ? 1 : _last + 1;
            }
            while (!_pending.TryAdd(_last, pending));
            correlation = _last;
            if (pending.DeadlineMilliseconds != 0)
            {
                _withDeadline++;
                _nextDeadline = Math.Min(_nextDeadline, pending.DeadlineMilliseconds);
            }

            return true;
        }
    }

    /// <summary>Removes a request: its reply came, or its caller gave up.</summary>
    public bool TryRemove(uint correlation, ushort? type, out PendingReply? pending)
    {
        lock (_gate)
        {
            if (_pending is null || !_pending.TryGetValue(correlation, out pending) || (type is not null && pending.Type != type))
            {
                pending = null;
                return false;
            }

            _pending.Remove(correlation);
            if (pending.DeadlineMilliseconds != 0)
            {
                _withDeadline--;
            }

            return true;
        }
    }

    /// <summary>Removes the requests whose deadline has passed; null where there are none. Tells from when on there may be some.</summary>
    public List<(uint Correlation, PendingReply Pending)>? RemoveExpired(long nowMilliseconds, out long next)
    {
        lock (_gate)
        {
            next = _withDeadline == 0 || _pending is null ? ConnectionClock.Never : _nextDeadline;
            if (nowMilliseconds < next)
            {
                _nextDeadline = next;
                return null;
            }

            next = ConnectionClock.Never;
            List<(uint, PendingReply)>? expired = null;
            foreach ((uint correlation, PendingReply pending) in _pending!)
            {
                if (pending.DeadlineMilliseconds == 0)
                {
                    continue;
                }

                if (nowMilliseconds >= pending.DeadlineMilliseconds)
                {
                    (expired ??= []).Add((correlation, pending));
                }
                else
                {
                    next = Math.Min(next, pending.DeadlineMilliseconds);
                }
            }

            _nextDeadline = next;

            foreach ((uint correlation, _) in expired ?? [])
            {
                _pending.Remove(correlation);
                _withDeadline--;
            }

            return expired;
        }
    }

    /// <summary>Takes no more requests and gives back all that are in flight.</summary>
    public PendingReply[] Close()
    {
        lock (_gate)
        {
            _closed = true;
            PendingReply[] all = _pending is null ? [] : [.. _pending.Values];
            _pending = null;
            _withDeadline = 0;
            return all;
        }
    }
}
