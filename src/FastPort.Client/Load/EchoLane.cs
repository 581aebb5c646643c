using FastPort.Protocol;
using FastPort.Telemetry;

namespace FastPort.Client.Load;

/// <summary>
/// One connection of an echo load. A slot sends its next request inside the burst of its reply, so that a burst of replies leads to one
/// burst of requests and one flush. The session owns the slots in flight, <see cref="EchoSlots"/> the others.
/// </summary>
internal sealed class EchoLane : ILane
{
    private readonly EchoPayload _payload;
    private readonly LoadRecorder _recorder;
    private readonly LatencySeries? _latencies;
    private readonly bool _openLoop;
    private readonly EchoSlots _slots;

    public EchoLane(int number, int inFlight, EchoPayload payload, LoadRecorder recorder, SendSchedule? schedule)
    {
        _payload = payload;
        _recorder = recorder;
        _latencies = recorder.ForConnection(number);
        _openLoop = schedule is not null;
        _slots = new EchoSlots(this, number, inFlight, schedule);
    }

    public Task Drained => _slots.Drained;

    public void OnConnected(Session session)
    {
        _slots.Connected(session);
        SendIdle();
    }

    /// <summary>Starts to send.</summary>
    /// <param name="nanoseconds">The start, the same for all connections.</param>
    public void Start(long nanoseconds)
    {
        _slots.Start(nanoseconds);
        SendIdle();
    }

    public void Stop() => _slots.Stop();

    public int Abandon()
    {
        int unanswered = _slots.Abandon();
        for (int i = 0; i < unanswered; i++)
        {
            _latencies?.RecordError();
        }

        return unanswered;
    }

    /// <inheritdoc cref="EchoSlots.SkipBefore"/>
    public void SkipBefore(long nanoseconds) => _slots.SkipBefore(nanoseconds);

    /// <inheritdoc cref="EchoSlots.CountMissed"/>
    public long CountMissed(long fromNanoseconds, long toNanoseconds) => _slots.CountMissed(fromNanoseconds, toNanoseconds);

    /// <summary>
    /// Open loop: sends the requests that are due. Those that cannot be sent now are sent by what ends the wait: a reply, room, a session.
    /// </summary>
    public void SendDue() => SendIdle();

    public void OnReply(EchoSlot slot, scoped in InboundReply reply)
    {
        if (_slots.IsAbandoned)
        {
            // Its request was counted as unanswered.
            return;
        }

        if (reply.IsError)
        {
            OnErrorReply(slot, in reply);
            return;
        }

        if (!_payload.Matches(reply.Body, slot.Stamp))
        {
            _recorder.RecordError(
                LoadErrorKind.Wrong, $"A reply of {reply.Body.Length} bytes differs from the {_payload.Length} bytes that were sent.",
                _latencies);
        }
        else if (_openLoop)
        {
            _recorder.RecordDue(in reply, slot.Due, _latencies);
        }
        else
        {
            _recorder.Record(in reply, slot, _latencies);
        }

        // The closed loop takes no lock here.
        if (!_openLoop && !_slots.IsStopping && _slots.Session is { } session)
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
        if (!_slots.IsAbandoned)
        {
            _recorder.RecordError(LoadErrorKind.Lost, message, _latencies);
            Release(slot, refused: false);
        }
    }

    private void OnErrorReply(EchoSlot slot, scoped in InboundReply reply)
    {
        (ErrorCode code, string message) = reply.ReadError();
        if (code == ErrorCode.ShuttingDown)
        {
            // The server did not run the request: send it on the next session.
            _slots.Forget(slot.SentOn);
            Release(slot, refused: true);
            return;
        }

        _recorder.RecordError(LoadErrorKind.ErrorReply, $"{code}: {message}", _latencies);
        Release(slot, refused: false);
    }

    // Sends from idle slots: requests refused before, and due requests.
    private void SendIdle()
    {
        while (_slots.TryTake(out EchoSlot? slot, out Session? session))
        {
            Send(slot!, session!);
        }
    }

    private void Send(EchoSlot slot, Session session)
    {
        slot.SentOn = session;
        switch (session.TryRequest(DiagnosticType.Echo, new EchoBody(_payload, slot.Stamp), slot, timing: true, TimeSpan.Zero, out _))
        {
            case SendStatus.Queued:
                return;
            case SendStatus.Full:
                _slots.Keep(slot, refused: true);
                if (_slots.TryBeginWait(session))
                {
                    _ = SendWhenWritableAsync(session);
                }
                else
                {
                    // Another session may have begun in the meantime. An existing wait sends all of them.
                    SendIdle();
                }

                return;
            case SendStatus.TooLarge:
                // The size was checked before the run: only a replaced server can have a smaller limit. The connection sends no more, as
                // each of its requests would be an error.
                _recorder.RecordError(
                    LoadErrorKind.ErrorReply,
                    $"The server's frame limit allows bodies of {session.MaxBodyBytes} bytes, not {_payload.Length}; nothing more is sent.",
                    _latencies);
                _slots.Forget(session);
                _slots.Keep(slot, refused: true);
                return;
            default:
                _slots.Forget(session);
                _slots.Keep(slot, refused: true);

                // A new session may have started in the meantime.
                SendIdle();
                return;
        }
    }

    private void Release(EchoSlot slot, bool refused)
    {
        _slots.Keep(slot, refused);
        SendIdle();
    }

    private async Task SendWhenWritableAsync(Session session)
    {
        await session.WhenWritableAsync().ConfigureAwait(false);
        _slots.EndWait();
        SendIdle();
    }
}
