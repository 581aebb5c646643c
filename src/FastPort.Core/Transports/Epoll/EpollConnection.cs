using System.Net;
using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Transports.Sockets;

namespace FastPort.Transports.Epoll;

/// <summary>
/// A stream socket bound to one <see cref="EpollLoop"/>, which alone reads it and closes it. Other threads write (<see cref="EpollOutput"/>),
/// perhaps send (<see cref="EpollSender"/>) and ask for the rest through <see cref="Ask"/>: what is asked for is a set of bits, so a connection
/// waits in the loop's inbox once at most however much is asked of it.
/// </summary>
internal sealed class EpollConnection : Connection, ILoopHandler, ILoopTask
{
    private const int ReceiveSize = 64 * 1024;
    private const int MaxReceiveSize = 256 * 1024;
    private const int MinimumCapacity = 1024;

    // What is longer leaves at once: from here on the copy into the kernel costs more than the peer's wake-up, and the bytes are still in the cache.
    private const int FlushAtOnceBytes = 32 * 1024;

    // After this many receives in a row it is the turn of the loop's other connections.
    private const int ReceivesPerTurn = 16;

    private const int AskStart = 1;
    private const int AskFlush = 2;
    private const int AskResume = 4;

    private readonly EpollLoopGroup _group;
    private readonly EpollLoop _loop;
    private readonly ConnectionSettings _settings;
    private readonly ArrayPoolCircularBuffer _input;
    private readonly EpollOutput _output;
    private readonly EpollSender _sender;
    private WriteProgress _progress;
    private CloseReason? _reason;
    private long _received;
    private long _deadline;
    private int _claimed;
    private int _asked;
    private volatile bool _closing;
    private volatile bool _aborted;
    private volatile bool _outputDown;
    private volatile bool _finished;

    // The loop's own from here on.
    private ulong _number;
    private int _askedEarly;
    private bool _started;
    private int _receiveSize = ReceiveSize;
    private bool _watched;
    private bool _readable;
    private bool _peerEnded;
    private bool _failed;
    private bool _inputEnded;
    private bool _inputEndReported;
    private bool _held;
    private bool _parked;
    private bool _lost;
    private bool _ended;
    private bool _flushQueued;
    private bool _continueQueued;

    /// <param name="descriptor">A connected, non-blocking socket; the connection's from now on.</param>
    /// <param name="group">The loops.</param>
    /// <param name="loop">The loop acquired for the connection; released at its end.</param>
    /// <param name="settings">Settings.</param>
    /// <param name="remote">The peer's address.</param>
    /// <param name="local">The address on this side.</param>
    public EpollConnection(
        int descriptor, EpollLoopGroup group, EpollLoop loop, ConnectionSettings settings, EndPoint? remote, EndPoint? local)
    {
        Descriptor = descriptor;
        _group = group;
        _loop = loop;
        _settings = settings;
        RemoteEndPoint = remote;
        LocalEndPoint = local;
        _input = new ArrayPoolCircularBuffer(MinimumCapacity, settings.MaxReceiveBytes, settings.Pool);
        _output = new EpollOutput(this, settings);
        _sender = new EpollSender(this, _output);
        _progress = new WriteProgress(settings.WriteTimeout);
    }

    public int Descriptor { get; }

    public override EndPoint? RemoteEndPoint { get; }

    public override EndPoint? LocalEndPoint { get; }

    public override long BytesReceived => Volatile.Read(ref _received);

    public override long BytesSent => _sender.BytesSent;

    public override long PendingBytes => _sender.Pending;

    public override bool IsSendBlocked => _sender.IsBlocked;

    public override bool IsClosing => _closing;

    public override bool IsOnLoop => ReferenceEquals(EpollLoop.Current, _loop);

    ILoopTask? ILoopTask.Next { get; set; }

    public override ArrayPoolCircularBuffer? BeginWrite() => _output.BeginWrite();

    public override ArrayPoolCircularBuffer? BeginFinalWrite() => _output.BeginFinalWrite();

    public override void EndWrite() => _output.EndWrite();

    public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) =>
        _output.TryWriteBorrowed(memory, release, state);

    public override ArrayPoolCircularBuffer BeginBatch() => _output.BeginBatch();

    public override bool TryAppendBatch(ArrayPoolCircularBuffer ring, ref ArrayPoolCircularBuffer batch)
    {
        if (IsOnLoop)
        {
            return base.TryAppendBatch(ring, ref batch);
        }

        _output.AppendBatch(ref batch);
        return true;
    }

    public override void EndBatch(ArrayPoolCircularBuffer batch) => _output.EndBatch(batch);

    public override void Flush()
    {
        RequestTick();
        if (IsOnLoop)
        {
            if (_sender.Pending >= FlushAtOnceBytes)
            {
                _sender.SendOnLoop();
            }
            else
            {
                FlushAtEndOfRound();
            }
        }
        else if (_sender.Pending != 0 && !_sender.TrySendDirectly(_loop))
        {
            Ask(AskFlush);
        }
    }

    public override void NotifyWhenDrained(long pendingBytes) => _sender.NotifyWhenDrained(pendingBytes);

    public override void ResumeReading() => Ask(AskResume);

    public override void Close(CloseReason reason)
    {
        if (Interlocked.CompareExchange(ref _reason, reason, null) is not null)
        {
            return;
        }

        Volatile.Write(ref _deadline, _settings.Clock.PreciseMilliseconds + (long)Math.Max(_settings.DrainTimeout.TotalMilliseconds, 1000));
        _closing = true;
        RequestTick();
        if (Interlocked.Exchange(ref _claimed, 1) == 0)
        {
            // Never started: no loop knows it, and nothing is written.
            End();
            return;
        }

        _output.End();
        Ask(AskFlush | AskResume);
    }

    public override void Abort(CloseReason reason)
    {
        Interlocked.CompareExchange(ref _reason, reason, null);
        _closing = true;
        if (_aborted)
        {
            return;
        }

        _aborted = true;
        if (Interlocked.Exchange(ref _claimed, 1) == 0)
        {
            // Never started: no loop knows it.
            End();
            return;
        }

        Ask(AskResume);
    }

    void ILoopTask.RunOnLoop()
    {
        int asked = Interlocked.Exchange(ref _asked, 0);
        if (_finished)
        {
            return;
        }

        if (_ended)
        {
            TryFinish();
            return;
        }

        if (!_started)
        {
            // What the protocol asks for while it is being opened waits until that is done.
            asked |= _askedEarly;
            _askedEarly = asked;
            if ((asked & AskStart) == 0)
            {
                return;
            }

            _started = true;
            Watch();
        }

        if ((asked & AskFlush) != 0)
        {
            FlushAtEndOfRound();
        }

        if ((asked & AskResume) != 0)
        {
            _parked = false;
            Pump();
        }
    }

    void ILoopHandler.OnReady(uint events)
    {
        if ((events & Libc.EpollOut) != 0)
        {
            _sender.Writable();
            if (_sender.Pending != 0)
            {
                FlushAtEndOfRound();
            }
        }

        if ((events & ~(Libc.EpollOut)) == 0)
        {
            return;
        }

        _readable = true;
        _peerEnded |= (events & (Libc.EpollRdHup | Libc.EpollHup | Libc.EpollErr)) != 0;
        _failed |= (events & Libc.EpollErr) != 0;
        if (_parked)
        {
            Park();
        }

        Pump();
    }

    /// <summary>The loop's end of round.</summary>
    public void FlushNow()
    {
        _flushQueued = false;
        if (!_finished)
        {
            _sender.SendOnLoop();
        }
    }

    /// <summary>The loop's next round, after a turn that ended too early.</summary>
    public void Continue()
    {
        _continueQueued = false;
        if (!_finished)
        {
            Pump();
        }
    }

    protected override void StartCore()
    {
        if (Interlocked.Exchange(ref _claimed, 1) != 0)
        {
            return;
        }

        _progress.Start(_settings.Clock.PreciseMilliseconds);
        try
        {
            Protocol!.OnOpened(this);
        }
        catch (Exception e)
        {
            Fault(e);
        }

        // Not before the protocol is opened: a tick comes on the timer's thread and would find it half made. Nothing ends before the loop has it.
        _settings.Clock.Add(this);
        Ask(AskStart);
    }

    protected internal override long Tick(long nowMilliseconds)
    {
        bool stuck = _progress.IsStuck(nowMilliseconds, _sender.BytesSent, _sender.Pending);
        if (_closing)
        {
            // Until the last byte is out a peer that reads, however slowly, has the time of any writing, once; then draining is bounded.
            bool patient = !_outputDown && !stuck && _reason!.Kind != CloseKind.WriteTimeout;
            if (!patient && nowMilliseconds >= Volatile.Read(ref _deadline))
            {
                Abort(CloseReason.LocalClosed);
            }

            return ConnectionClock.NextTick;
        }

        try
        {
            if (stuck)
            {
                CloseOnWriteTimeout(_settings.WriteTimeout);
                return ConnectionClock.NextTick;
            }

            long due = Protocol!.OnTick(nowMilliseconds);
            return _progress.IsWaiting ? ConnectionClock.NextTick : due;
        }
        catch (Exception e)
        {
            // The clock serves all connections: one protocol's defect ends its own.
            Fault(e);
            return ConnectionClock.NextTick;
        }
    }

    /// <summary>The last byte is sent: ends this side of the stream. By the loop, as sender.</summary>
    internal void ShutDownOutput()
    {
        // Before the peer can know: the time for draining input begins now.
        Volatile.Write(ref _deadline, _settings.Clock.PreciseMilliseconds + (long)_settings.DrainTimeout.TotalMilliseconds);
        _outputDown = true;
        _ = Libc.Shutdown(Descriptor, Libc.ShutWrite);
        Ask(AskResume);
    }

    /// <summary>The socket refused to send; by whoever sends.</summary>
    internal void OutputFailed(int error) => Abort(Lost(error));

    /// <summary>Calls the release of a borrowed segment; by whoever sends, under no lock.</summary>
    internal void Release(BorrowedSegments.Segment segment)
    {
        try
        {
            segment.Release?.Invoke(segment.State);
        }
        catch (Exception e)
        {
            // It has been called; the bytes of others must not suffer.
            TransportLog.ReleaseFault(_settings.Logger, Id, e);
        }
    }

    // Where nothing is asked yet the connection goes to the loop's inbox; where something is, it waits there already.
    private void Ask(int what)
    {
        if (!_finished && Interlocked.Or(ref _asked, what) == 0)
        {
            _loop.Post(this);
        }
    }

    private void FlushAtEndOfRound()
    {
        if (!_flushQueued)
        {
            _flushQueued = true;
            _loop.FlushLater(this);
        }
    }

    private void Watch()
    {
        const uint Events = Libc.EpollIn | Libc.EpollOut | Libc.EpollRdHup | Libc.EpollEdge;
        _watched = _loop.TryWatch(Descriptor, Events, this, out _number);
        if (!_watched)
        {
            Lose(Errno.Last);
            Pump();
        }
    }

    private void Pump()
    {
        if (_parked || _ended)
        {
            return;
        }

        try
        {
            if (!PumpTurn() && !_continueQueued)
            {
                _continueQueued = true;
                _loop.ContinueLater(this);
            }
        }
        catch (Exception e)
        {
            Fault(e);
            End();
        }
    }

    // Reads and offers until nothing is left to read, the protocol pauses, or the turn is over, which is the one case of false.
    private bool PumpTurn()
    {
        // After a Pause also with nothing unread: the protocol has to learn that it is being read for again.
        bool offer = _held || !_input.IsEmpty;
        for (int receives = 0; receives < ReceivesPerTurn; receives++)
        {
            if (_aborted || _lost || (_closing && _outputDown && _inputEnded))
            {
                End();
                return true;
            }

            if (!offer && !_inputEnded)
            {
                if (!_readable || !Receive())
                {
                    Rest();
                    return !_lost;
                }
            }

            offer = false;
            if (_closing)
            {
                // What still comes is dropped: only the peer's end of stream is of interest.
                _input.Consume(_input.Length);
            }
            else if (!Offer())
            {
                if (Park())
                {
                    return true;
                }

                continue;
            }

            if (_inputEnded)
            {
                if (!_closing && !_inputEndReported)
                {
                    _inputEndReported = true;
                    Protocol!.OnInputEnded(!_input.IsEmpty);
                }

                if (_aborted || (_closing && _outputDown))
                {
                    End();
                    return true;
                }

                // Nothing more can be read; Close or Abort brings the connection to its end.
                if (Park())
                {
                    return true;
                }
            }
        }

        return false;
    }

    // One burst: everything that is there is offered, everything answered leaves at the end of the round. False where the protocol paused.
    private bool Offer()
    {
        ReceiveOutcome outcome = ReceiveOutcome.Continue;
        if (_held || !_input.IsEmpty || !_inputEnded)
        {
            // Before, so that a tick sees what came however long the protocol is at it, and after, for what the protocol has changed.
            RequestTick();
            outcome = Protocol!.OnReceived(_input);
            RequestTick();
            if (_sender.Pending != 0)
            {
                Flush();
            }
        }

        _held = outcome == ReceiveOutcome.Pause;
        return !_held;
    }

    // False where nothing was received.
    private unsafe bool Receive()
    {
        int room = Math.Min(_receiveSize, Math.Max(_input.MaximumCapacity - _input.Length, 1));
        if (_input.Capacity - _input.Length < room && !_input.TryReserve(room))
        {
            _input.TryReserve(1);
        }

        Span<byte> span = _input.GetWritableSpan(1);
        while (true)
        {
            nint count;
            fixed (byte* start = span)
            {
                count = Libc.Receive(Descriptor, start, span.Length, 0);
            }

            if (count > 0)
            {
                Received((int)count, span.Length);
                return true;
            }

            if (count == 0)
            {
                _inputEnded = true;
                return true;
            }

            int error = Errno.Last;
            if (error == Errno.Interrupted)
            {
                continue;
            }

            _readable = false;
            if (error != Errno.Again)
            {
                Lose(error);
            }

            return false;
        }
    }

    private void Received(int count, int asked)
    {
        _input.Advance(count);
        Volatile.Write(ref _received, _received + count);
        _sender.AllowDirect();
        if (count < asked)
        {
            // All there was. What comes from now on raises an event of its own, but an end of stream that was announced is still to be read.
            _readable = _peerEnded;
            _receiveSize = Math.Max(ReceiveSize, _receiveSize - (_receiveSize >> 3));
        }
        else
        {
            _receiveSize = Math.Min(_receiveSize * 2, MaxReceiveSize);
        }
    }

    private void Rest()
    {
        if (!_input.TryReleaseWhenEmpty())
        {
            _input.TryShrink();
        }
    }

    // A reset while nothing is read here, where no receive would tell, ends the connection: whoever works for this peer may stop. Its event may
    // have come with the last bytes, and comes once.
    private bool Park()
    {
        if (_failed && NativeSocket.TakeError(Descriptor) is not 0 and int error)
        {
            Lose(error);
        }

        _parked = !_lost;
        return _parked;
    }

    private void Lose(int error)
    {
        Interlocked.CompareExchange(ref _reason, Lost(error), null);
        _closing = true;
        _lost = true;
    }

    private void End()
    {
        if (_ended)
        {
            return;
        }

        Interlocked.CompareExchange(ref _reason, CloseReason.LocalClosed, null);
        _closing = true;
        _ended = true;
        _input.Dispose();
        _output.Close();
        TryFinish();
    }

    // Where another thread is sending, its flush, once it is done, brings the loop here again.
    private void TryFinish()
    {
        if (!_sender.TryFinish())
        {
            return;
        }

        _finished = true;
        _settings.Clock.Remove(this);
        if (_watched)
        {
            _loop.Forget(_number);
        }

        if (_aborted && !_outputDown && _reason!.Kind is not (CloseKind.PeerClosed or CloseKind.LocalClosed))
        {
            // What the peer did not take is not worth a lingering socket.
            NativeSocket.ResetOnClose(Descriptor);
        }

        _ = Libc.Close(Descriptor);
        try
        {
            Protocol?.OnClosed(_reason!);
        }
        catch (Exception e)
        {
            TransportLog.ProtocolFault(_settings.Logger, Id, e);
        }

        CompleteClosed(_reason!);
        _group.Release(_loop);
    }

    private void Fault(Exception e)
    {
        TransportLog.ProtocolFault(_settings.Logger, Id, e);
        Abort(new CloseReason(CloseKind.Internal, "The protocol threw; see the log.", Framing.ErrorCode.Internal, e));
    }

    private static CloseReason Lost(int error) =>
        new(CloseKind.ConnectionLost, $"The connection was lost ({Errno.ToSocketError(error)}).");
}
