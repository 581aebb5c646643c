using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>The requests of a channel that wait for their responses. Thread-safe; completes requests under no lock.</summary>
internal sealed class PendingRequests
{
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, PendingRequest> _requests = [];
    private StatusCode _end;
    private uint _lastId;

    /// <summary>An id for a request that has no place here.</summary>
    public uint NextId()
    {
        lock (_gate)
        {
            return Next();
        }
    }

    /// <summary>Adds a request. Returns Good, or the reason why the channel has ended.</summary>
    public StatusCode TryAdd(PendingRequest request, out uint id)
    {
        lock (_gate)
        {
            id = 0;
            if (_end.IsGood)
            {
                id = Next();
                _requests.Add(id, request);
            }

            return _end;
        }
    }

    /// <summary>Removes a request; null if it was completed or given up before.</summary>
    public PendingRequest? Take(uint id)
    {
        lock (_gate)
        {
            return _requests.Remove(id, out PendingRequest? pending) ? pending : null;
        }
    }

    /// <summary>Fails the requests whose time is over. True if requests with a deadline are left.</summary>
    /// <param name="nowMilliseconds">The clock's time.</param>
    public bool FailLate(long nowMilliseconds)
    {
        List<PendingRequest>? late = null;
        bool any = false;
        lock (_gate)
        {
            foreach ((uint id, PendingRequest pending) in _requests)
            {
                if (nowMilliseconds >= pending.Deadline)
                {
                    _requests.Remove(id);
                    (late ??= []).Add(pending);
                }
                else
                {
                    any |= pending.Deadline != long.MaxValue;
                }
            }
        }

        late?.ForEach(static pending => pending.Fail(StatusCodes.BadTimeout, RequestFate.Unanswered));
        return any;
    }

    /// <summary>
    /// The time at which the last waiting request with such a response fails, in milliseconds of the clock; 0 if there is none.
    /// </summary>
    public long LastDeadlineOf<TResponse>()
        where TResponse : struct, IServiceMessage
    {
        long last = 0;
        lock (_gate)
        {
            foreach (PendingRequest pending in _requests.Values)
            {
                last = pending is PendingRequest<TResponse> ? Math.Max(last, pending.Deadline) : last;
            }
        }

        return last;
    }

    /// <summary>Refuses further requests, and fails the waiting ones. False if it already did.</summary>
    public bool TryEnd(StatusCode status)
    {
        PendingRequest[] pending;
        lock (_gate)
        {
            if (!_end.IsGood)
            {
                return false;
            }

            _end = status;
            pending = [.. _requests.Values];
            _requests.Clear();
        }

        Array.ForEach(pending, request => request.Fail(status, RequestFate.Unanswered));
        return true;
    }

    private uint Next() => ++_lastId == 0 ? ++_lastId : _lastId;
}
