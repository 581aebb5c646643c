namespace FastPort.Client.Load;

/// <summary>
/// The slots of a lane that are not in flight, and the state that decides whether they may be sent: the session, the schedule, the phase of
/// the run. <see cref="_gate"/> guards all fields. Slots in <see cref="_free"/> have no request; slots in <see cref="_refused"/> have a
/// request that could not be sent. <see cref="Session"/>, <see cref="IsStopping"/> and <see cref="IsAbandoned"/> are read without the gate:
/// the closed loop takes the gate only when a session or the run begins or ends.
/// </summary>
internal sealed class EchoSlots
{
    private readonly Lock _gate = new();
    private readonly SendSchedule? _schedule;
    private readonly int _count;
    private readonly Stack<EchoSlot> _free;
    private readonly Stack<EchoSlot> _refused = new();
    private readonly TaskCompletionSource _drained = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile Session? _session;
    private volatile bool _stopping;
    private volatile bool _abandoned;
    private bool _running;
    private bool _waitsForRoom;
    private int _ended;
    private List<long>? _unsent;

    /// <param name="lane">The lane.</param>
    /// <param name="number">The lane's number, from 0.</param>
    /// <param name="count">Number of slots.</param>
    /// <param name="schedule">When requests are due; null in the closed loop.</param>
    public EchoSlots(EchoLane lane, int number, int count, SendSchedule? schedule)
    {
        _schedule = schedule;
        _count = count;
        _free = new Stack<EchoSlot>(count);
        for (int i = count - 1; i >= 0; i--)
        {
            _free.Push(new EchoSlot(lane, unchecked((number * count) + i)));
        }
    }

    /// <summary>Completes when the lane was stopped and no request is in flight.</summary>
    public Task Drained => _drained.Task;

    /// <summary>The session for requests; null while there is none.</summary>
    public Session? Session => _session;

    public bool IsStopping => _stopping;

    public bool IsAbandoned => _abandoned;

    public void Connected(Session session)
    {
        lock (_gate)
        {
            _session = session;
            _waitsForRoom = false;
        }
    }

    /// <summary>Stops using the session; <see cref="Connected"/> sets the next one.</summary>
    public void Forget(Session? session)
    {
        lock (_gate)
        {
            if (ReferenceEquals(_session, session))
            {
                _session = null;
            }
        }
    }

    public void Start(long nanoseconds)
    {
        lock (_gate)
        {
            _schedule?.Begin(nanoseconds);
            _running = true;
        }
    }

    /// <summary>Open loop: drops the requests that were due before and have no slot yet.</summary>
    public void SkipBefore(long nanoseconds)
    {
        lock (_gate)
        {
            _schedule?.SkipBefore(nanoseconds);
        }
    }

    public void Stop()
    {
        lock (_gate)
        {
            _stopping = true;
            _ended += _free.Count;
            _free.Clear();
            while (_refused.TryPop(out EchoSlot? slot))
            {
                End(slot, refused: true);
            }

            CompleteIfDrained();
        }
    }

    /// <summary>Stops counting the requests that are in flight. Returns their number.</summary>
    public int Abandon()
    {
        lock (_gate)
        {
            _abandoned = true;
            return _count - _ended;
        }
    }

    /// <summary>Number of requests that were due in [from, to) and never sent. Call after <see cref="Stop"/>.</summary>
    public long CountMissed(long fromNanoseconds, long toNanoseconds)
    {
        lock (_gate)
        {
            return _schedule is null
                ? 0
                : _schedule.CountMissed(fromNanoseconds, toNanoseconds)
                + (_unsent?.Count(due => due >= fromNanoseconds && due < toNanoseconds) ?? 0);
        }
    }

    /// <summary>Takes a slot that can be sent now: one whose request was refused before, or a free one for a due request.</summary>
    public bool TryTake(out EchoSlot? slot, out Session? session)
    {
        lock (_gate)
        {
            session = _session;
            slot = null;
            if (!_running || _stopping || _waitsForRoom || session is null)
            {
                return false;
            }

            if (_refused.TryPop(out slot))
            {
                return true;
            }

            if (_free.Count == 0)
            {
                return false;
            }

            long due = 0;
            if (_schedule is not null && !_schedule.TryTake(MonotonicClock.Nanoseconds, out due))
            {
                return false;
            }

            slot = _free.Pop();
            slot.Next(due);
            return true;
        }
    }

    /// <summary>Takes back a slot that is not in flight.</summary>
    /// <param name="slot">The slot.</param>
    /// <param name="refused">Whether its request must still be sent.</param>
    public void Keep(EchoSlot slot, bool refused)
    {
        lock (_gate)
        {
            if (_stopping)
            {
                End(slot, refused);
                CompleteIfDrained();
            }
            else
            {
                (refused ? _refused : _free).Push(slot);
            }
        }
    }

    /// <summary>Holds all slots until the session has room; false if they are already held, or the session has changed.</summary>
    public bool TryBeginWait(Session session)
    {
        lock (_gate)
        {
            if (_waitsForRoom || !ReferenceEquals(_session, session))
            {
                return false;
            }

            _waitsForRoom = true;
            return true;
        }
    }

    public void EndWait()
    {
        lock (_gate)
        {
            _waitsForRoom = false;
        }
    }

    // Called under the gate, after the stop.
    private void End(EchoSlot slot, bool refused)
    {
        _ended++;
        if (refused && slot.Due != 0)
        {
            (_unsent ??= []).Add(slot.Due);
        }
    }

    private void CompleteIfDrained()
    {
        if (_ended == _count)
        {
            _drained.TrySetResult();
        }
    }
}
