using FastPort.Framing;
using FastPort.Protocol.Diagnostics;
using FastPort.Sessions;

namespace FastPort.Client.Load;

/// <summary>
/// One connection of an echo load and its slots. A slot whose reply came sends its next request at once, inside the burst in which the reply came, so that
/// a burst of replies becomes one burst of requests and one flush.
/// <para>
/// Slots in flight belong to their session. <see cref="_gate"/> guards the idle ones (<see cref="_free"/> have no request,
/// <see cref="_refused"/> have one that could not be sent), the schedule and the flags; <see cref="_session"/> is written under it and read without.
/// In the closed loop the gate is only taken when a session or the run begins or ends.
/// </para>
/// </summary>
internal sealed class EchoLane
{
    // A blocked connection sends what is due when its next reply comes; the pacer need not hurry back to it.
    private const long BlockedNanoseconds = 100_000;

    private readonly Lock _gate = new();
    private readonly EchoPayload _payload;
    private readonly LoadRecorder _recorder;
    private readonly SendSchedule? _schedule;
    private readonly int _slots;
    private readonly Stack<EchoSlot> _free;
    private readonly Stack<EchoSlot> _refused = new();
    private readonly TaskCompletionSource _drained = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile Session? _session;
    private volatile bool _stopping;
    private bool _running;
    private bool _waitsForRoom;
    private bool _abandoned;
    private int _ended;
    private List<long>? _unsent;

    public EchoLane(int number, int inFlight, EchoPayload payload, LoadRecorder recorder, SendSchedule? schedule)
    {
        _payload = payload;
        _recorder = recorder;
        _schedule = schedule;
        _slots = inFlight;
        _free = new Stack<EchoSlot>(inFlight);
        for (int i = inFlight - 1; i >= 0; i--)
        {
            _free.Push(new EchoSlot(this, unchecked((number * inFlight) + i)));
        }
    }

    /// <summary>Completes when the lane was stopped and nothing is in flight any more.</summary>
    public Task Drained => _drained.Task;

    public void OnConnected(Session session)
    {
        lock (_gate)
        {
            _session = session;
            _waitsForRoom = false;
        }

        SendIdle();
    }

    /// <summary>Begins to send.</summary>
    /// <param name="nanoseconds">The moment, the same for all connections.</param>
    public void Start(long nanoseconds)
    {
        lock (_gate)
        {
            _schedule?.Begin(nanoseconds);
            _running = true;
        }

        SendIdle();
    }

    /// <summary>Sends no more; <see cref="Drained"/> completes with the last reply.</summary>
    public void Stop()
    {
        lock (_gate)
        {
            _stopping = true;
            _ended += _free.Count;
            _free.Clear();
            while (_refused.TryPop(out EchoSlot? slot))
            {
                Keep(slot, refused: true);
            }

            CompleteIfDrained();
        }
    }

    /// <summary>Gives up waiting: what is still in flight will not be counted again. Returns how many requests that are.</summary>
    public int Abandon()
    {
        lock (_gate)
        {
            _abandoned = true;
            return _slots - _ended;
        }
    }

    /// <summary>Requests that were due in [from, to) and never sent. Call after <see cref="Stop"/>.</summary>
    public long CountMissed(long fromNanoseconds, long toNanoseconds)
    {
        lock (_gate)
        {
            return _schedule is null
                ? 0
                : _schedule.CountMissed(fromNanoseconds, toNanoseconds) + (_unsent?.Count(due => due >= fromNanoseconds && due < toNanoseconds) ?? 0);
        }
    }

    /// <summary>Sends what idle slots can send now: what was refused before, and what is due.</summary>
    public void SendIdle()
    {
        while (TryTakeIdle(out EchoSlot? slot, out Session? session))
        {
            Send(slot!, session!);
        }
    }

    /// <summary>Open loop: sends what is due at this moment.</summary>
    /// <param name="nowNanoseconds">The moment.</param>
    /// <returns>When to come again: when the next request is due, or soon where one is due that cannot be sent yet.</returns>
    public long SendDue(long nowNanoseconds)
    {
        lock (_gate)
        {
            if (_schedule!.NextDue > nowNanoseconds)
            {
                return _schedule.NextDue;
            }
        }

        SendIdle();
        lock (_gate)
        {
            long next = _schedule.NextDue;
            return Math.Max(next, nowNanoseconds + BlockedNanoseconds);
        }
    }

    public void OnReply(EchoSlot slot, scoped in InboundReply reply)
    {
        if (reply.IsError)
        {
            OnErrorReply(slot, in reply);
            return;
        }

        if (!_payload.Matches(reply.Body, slot.Stamp))
        {
            _recorder.RecordError(LoadErrorKind.Wrong, $"A reply of {reply.Body.Length} bytes is not the {_payload.Length} bytes that were sent.");
        }
        else if (_schedule is null)
        {
            _recorder.Record(in reply, slot);
        }
        else
        {
            _recorder.RecordDue(in reply, slot.Due);
        }

        // The closed loop's way: no lock.
        if (_schedule is null && !_stopping && _session is { } session)
        {
            slot.Next(0);
            Send(slot, session);
        }
        else
        {
            Release(slot, refused: false);
        }
    }

    public void OnFailed(EchoSlot slot, string message)
    {
        lock (_gate)
        {
            if (_abandoned)
            {
                return;
            }
        }

        _recorder.RecordError(LoadErrorKind.Lost, message);
        Release(slot, refused: false);
    }

    private void OnErrorReply(EchoSlot slot, scoped in InboundReply reply)
    {
        (ErrorCode code, string message) = reply.ReadError();
        if (code == ErrorCode.ShuttingDown)
        {
            // The server says that it did not run the request: it goes to the next session.
            Forget(slot.SentOn);
            Release(slot, refused: true);
            return;
        }

        _recorder.RecordError(LoadErrorKind.ErrorReply, $"{code}: {message}");
        Release(slot, refused: false);
    }

    private void Send(EchoSlot slot, Session session)
    {
        slot.SentOn = session;
        switch (session.TryRequest(DiagnosticType.Echo, new EchoBody(_payload, slot.Stamp), slot, timing: true, TimeSpan.Zero, out _))
        {
            case SendStatus.Queued:
                return;
            case SendStatus.Full:
                Refuse(slot);
                WaitForRoom(session);
                return;
            case SendStatus.TooLarge:
                // Checked before the run; only another server in its place can have a smaller limit.
                _recorder.RecordError(LoadErrorKind.ErrorReply, $"The server's frame limit allows bodies of {session.LargestBody} bytes, not {_payload.Length}.");
                Forget(session);
                Refuse(slot);
                return;
            default:
                Forget(session);
                Refuse(slot);

                // Another session may have begun meanwhile.
                SendIdle();
                return;
        }
    }

    private void Refuse(EchoSlot slot)
    {
        lock (_gate)
        {
            Keep(slot, refused: true);
        }
    }

    private void Release(EchoSlot slot, bool refused)
    {
        lock (_gate)
        {
            Keep(slot, refused);
        }

        SendIdle();
    }

    // Under the gate.
    private void Keep(EchoSlot slot, bool refused)
    {
        if (_stopping)
        {
            _ended++;
            if (refused && slot.Due != 0)
            {
                (_unsent ??= []).Add(slot.Due);
            }

            CompleteIfDrained();
        }
        else
        {
            (refused ? _refused : _free).Push(slot);
        }
    }

    private void CompleteIfDrained()
    {
        if (_ended == _slots)
        {
            _drained.TrySetResult();
        }
    }

    private bool TryTakeIdle(out EchoSlot? slot, out Session? session)
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
            if (_schedule is not null && !_schedule.TryTake(LoadClock.Nanoseconds, out due))
            {
                return false;
            }

            slot = _free.Pop();
            slot.Next(due);
            return true;
        }
    }

    // The session takes no more; the next one comes with OnConnected.
    private void Forget(Session? session)
    {
        lock (_gate)
        {
            if (ReferenceEquals(_session, session))
            {
                _session = null;
            }
        }
    }

    private void WaitForRoom(Session session)
    {
        lock (_gate)
        {
            if (_waitsForRoom || !ReferenceEquals(_session, session))
            {
                return;
            }

            _waitsForRoom = true;
        }

        _ = SendWhenWritableAsync(session);
    }

    private async Task SendWhenWritableAsync(Session session)
    {
        await session.WhenWritableAsync().ConfigureAwait(false);
        lock (_gate)
        {
            _waitsForRoom = false;
        }

        SendIdle();
    }
}
