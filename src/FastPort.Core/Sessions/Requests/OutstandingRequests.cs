using FastPort.Connections;

namespace FastPort.Sessions.Requests;

/// <summary>
/// This side's requests in flight, by correlation. The thread that removes an entry completes it, so each is completed exactly once.
/// <see cref="_gate"/> guards all fields; no callback runs under it.
/// </summary>
internal sealed class OutstandingRequests
{
    private readonly Lock _gate = new();

    // Allocated for the first request: many sessions of a server never send one.
    private Dictionary<uint, PendingReply>? _pending;
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
                return _pending?.Count ?? 0;
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

    /// <summary>Removes a request, because its reply arrived or its caller canceled it; false if it is not in flight.</summary>
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

    /// <summary>
    /// Removes and returns the requests whose deadline has passed; null if there are none. Also returns when to check next.
    /// </summary>
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

    /// <summary>Accepts no more requests, and removes and returns all requests in flight.</summary>
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
