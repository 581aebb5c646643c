using FastPort.Framing;
using FastPort.Protocol;
using Google.Protobuf;

namespace FastPort.Client.Load;

/// <summary>
/// One connection of a source load: keeps Source requests in flight, each for a piece of the stream, and counts the received messages. Each
/// session has its own count, which only its loop writes. <see cref="_gate"/> guards the session, the idle slots, the list of counts and
/// the flags.
/// </summary>
internal sealed class SourceLane : ILane
{
    private readonly Lock _gate = new();
    private readonly LoadErrors _errors;
    private readonly int _size;
    private readonly int _piece;
    private readonly byte[] _request;
    private readonly Stack<Slot> _idle = new();
    private readonly int _slots;
    private readonly List<StreamCount> _counts = [];
    private readonly TaskCompletionSource _drained = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private StreamCount? _current;
    private bool _running;
    private bool _stopping;
    private bool _abandoned;

    /// <param name="size">Bytes of a message.</param>
    /// <param name="inFlight">Source requests in flight.</param>
    /// <param name="piece">Messages per Source request.</param>
    /// <param name="errors">Records the errors.</param>
    public SourceLane(int size, int inFlight, int piece, LoadErrors errors)
    {
        _size = size;
        _errors = errors;
        _slots = inFlight;
        _piece = piece;
        _request = new Source { Messages = (ulong)piece, PayloadBytes = (uint)size }.ToByteArray();
        for (int i = 0; i < inFlight; i++)
        {
            _idle.Push(new Slot(this));
        }
    }

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

    /// <summary>The handlers of this lane's client: they count the messages of the stream.</summary>
    public static MessageHandlers Handlers() => new MessageHandlers().MapInline(
        DiagnosticType.Sink, static (ref InlineRequest request) => ((StreamCount?)request.Session.State)?.Add(request.BodySize), "Sink");

    public void OnConnected(Session session)
    {
        var count = new StreamCount(session, _size);
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

    public int Abandon()
    {
        lock (_gate)
        {
            _abandoned = true;
            return _slots - _idle.Count;
        }
    }

    /// <summary>Compares the received with the requested messages. Call it when the lane is drained or abandoned.</summary>
    public void Verify()
    {
        lock (_gate)
        {
            foreach (StreamCount count in _counts)
            {
                count.Verify(_errors, _abandoned);
            }
        }
    }

    private void SendIdle()
    {
        while (TryTake(out Slot? slot, out StreamCount? count))
        {
            slot!.Count = count!;
            SendStatus status = count!.Session.TryRequest(
                DiagnosticType.Source, new RawBody(_request), slot, timing: false, TimeSpan.Zero, out _);
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

    private bool TryTake(out Slot? slot, out StreamCount? count)
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
            slot.Count!.Cut();
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
        bool isFirst = slot.Count!.Lose();
        lock (_gate)
        {
            if (_abandoned)
            {
                return;
            }
        }

        // The session is lost once, regardless of its number of streams.
        if (isFirst)
        {
            _errors.Add(LoadErrorKind.Lost, $"The streams of a connection could not be verified. {message}");
        }

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

    // Called under the gate.
    private void CompleteIfDrained()
    {
        if (_stopping && _idle.Count == _slots)
        {
            _drained.TrySetResult();
        }
    }

    private sealed class Slot(SourceLane lane) : PendingReply
    {
        public StreamCount? Count { get; set; }

        protected internal override void OnReply(scoped in InboundReply reply) => lane.OnReply(this, in reply);

        protected internal override void OnFailed(RequestFailure failure, string message) => lane.OnFailed(this, message);
    }
}
