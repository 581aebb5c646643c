using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Protocol;
using FastPort.Protocol.Diagnostics;
using FastPort.Sessions;
using Google.Protobuf;

namespace FastPort.Client.Load;

/// <summary>
/// One connection of a source load: keeps Source requests in flight, each for a piece of the stream, and counts what comes. Each session has a count of its
/// own, written by its loop alone. <see cref="_gate"/> guards the session, the idle slots, the list of counts and the flags.
/// </summary>
internal sealed class SourceLane
{
    private const int PieceMessages = 1000;
    private const int PieceBytes = 256 * 1024;

    private readonly Lock _gate = new();
    private readonly LoadErrors _errors;
    private readonly int _size;
    private readonly int _piece;
    private readonly byte[] _request;
    private readonly Stack<Slot> _idle = new();
    private readonly int _slots;
    private readonly List<SessionCount> _counts = [];
    private readonly TaskCompletionSource _drained = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private SessionCount? _current;
    private bool _running;
    private bool _stopping;
    private bool _abandoned;

    public SourceLane(int size, int inFlight, LoadErrors errors)
    {
        _size = size;
        _errors = errors;
        _slots = inFlight;

        // What is in flight when the time is up has still to come: bounded, for it lengthens the run.
        _piece = Math.Clamp(PieceBytes / (size + FrameHeader.Size) / inFlight, 1, PieceMessages);
        _request = new Source { Messages = (ulong)_piece, PayloadBytes = (uint)size }.ToByteArray();
        for (int i = 0; i < inFlight; i++)
        {
            _idle.Push(new Slot(this));
        }
    }

    /// <summary>Completes when the lane was stopped and every stream asked for has come to its end.</summary>
    public Task Drained => _drained.Task;

    /// <summary>Messages received, over all sessions.</summary>
    public long Received
    {
        get
        {
            lock (_gate)
            {
                return _counts.Sum(static count => count.Received);
            }
        }
    }

    /// <summary>The handlers of this lane's client: the stream's messages.</summary>
    public static MessageHandlers Handlers() => new MessageHandlers().MapInline(
        DiagnosticType.Sink, static (ref InlineRequest request) => ((SessionCount?)request.Session.State)?.Add(request.Body.Length), "Sink");

    public void OnConnected(Session session)
    {
        var count = new SessionCount(session, _size);
        session.State = count;
        lock (_gate)
        {
            _counts.Add(count);
            _current = count;
        }

        SendIdle();
    }

    public void Start()
    {
        lock (_gate)
        {
            _running = true;
        }

        SendIdle();
    }

    public void Stop()
    {
        lock (_gate)
        {
            _stopping = true;
            CompleteIfDrained();
        }
    }

    /// <summary>Gives up waiting; returns the requests still in flight.</summary>
    public int Abandon()
    {
        lock (_gate)
        {
            _abandoned = true;
            return _slots - _idle.Count;
        }
    }

    /// <summary>Compares what came with what was asked for. Call when drained or abandoned.</summary>
    public void Verify()
    {
        lock (_gate)
        {
            foreach (SessionCount count in _counts)
            {
                count.Verify(_errors, _abandoned);
            }
        }
    }

    private void SendIdle()
    {
        while (TryTake(out Slot? slot, out SessionCount? count))
        {
            slot!.Count = count!;
            SendStatus status = count!.Session.TryRequest(DiagnosticType.Source, new RawBody(_request), slot, timing: false, TimeSpan.Zero, out _);
            if (status != SendStatus.Queued)
            {
                lock (_gate)
                {
                    _idle.Push(slot);
                    CompleteIfDrained();
                    if (status == SendStatus.Closed && ReferenceEquals(_current, count))
                    {
                        _current = null;
                    }
                }

                if (status == SendStatus.Full)
                {
                    _ = SendWhenWritableAsync(count.Session);
                    return;
                }
            }
        }
    }

    private async Task SendWhenWritableAsync(Session session)
    {
        await session.WhenWritableAsync().ConfigureAwait(false);
        SendIdle();
    }

    private bool TryTake(out Slot? slot, out SessionCount? count)
    {
        lock (_gate)
        {
            slot = null;
            count = _current;
            return _running && !_stopping && count is not null && _idle.TryPop(out slot);
        }
    }

    private void OnReply(Slot slot, scoped in InboundReply reply)
    {
        if (!reply.IsError)
        {
            slot.Count!.Expect(_piece);
        }
        else
        {
            (ErrorCode code, string message) = reply.ReadError();
            slot.Count!.Lose();
            if (code != ErrorCode.ShuttingDown)
            {
                _errors.Add(LoadErrorKind.ErrorReply, $"{code}: {message}");
            }
            else
            {
                lock (_gate)
                {
                    _current = ReferenceEquals(_current, slot.Count) ? null : _current;
                }
            }
        }

        Release(slot);
    }

    private void OnFailed(Slot slot, string message)
    {
        slot.Count!.Lose();
        lock (_gate)
        {
            if (_abandoned)
            {
                return;
            }
        }

        _errors.Add(LoadErrorKind.Lost, message);
        Release(slot);
    }

    private void Release(Slot slot)
    {
        lock (_gate)
        {
            _idle.Push(slot);
            CompleteIfDrained();
        }

        SendIdle();
    }

    // Under the gate.
    private void CompleteIfDrained()
    {
        if (_stopping && _idle.Count == _slots)
        {
            _drained.TrySetResult();
        }
    }

    private sealed class Slot(SourceLane lane) : PendingReply
    {
        public SessionCount? Count { get; set; }

        protected override void OnReply(scoped in InboundReply reply) => lane.OnReply(this, in reply);

        protected override void OnFailed(RequestFailure failure, string message) => lane.OnFailed(this, message);
    }

    /// <summary>What one session received and ought to have; written by its loop.</summary>
    private sealed class SessionCount(Session session, int size)
    {
        private long _received;
        private long _wrongSize;
        private long _expected;
        private volatile bool _lost;

        public Session Session => session;

        public long Received => Volatile.Read(ref _received);

        public void Add(long bytes)
        {
            Volatile.Write(ref _received, _received + 1);
            if (bytes != size)
            {
                Volatile.Write(ref _wrongSize, _wrongSize + 1);
            }
        }

        public void Expect(int messages) => Volatile.Write(ref _expected, _expected + messages);

        /// <summary>A stream of this session was cut: its count cannot be known.</summary>
        public void Lose() => _lost = true;

        public void Verify(LoadErrors errors, bool cut)
        {
            long wrong = Volatile.Read(ref _wrongSize);
            if (wrong != 0)
            {
                errors.Add(LoadErrorKind.Wrong, $"Messages of a stream had not the {size} bytes asked for.", wrong);
            }

            long expected = Volatile.Read(ref _expected);
            if (_lost || cut ? Received < expected : Received != expected)
            {
                errors.Add(LoadErrorKind.Wrong, $"A connection received {Received} messages; its streams had {expected}.");
            }
        }
    }
}
