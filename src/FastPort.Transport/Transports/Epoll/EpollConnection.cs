using System.Net;
using FastPort.Connections;
using FastPort.Transports.Epoll.Loop;
using FastPort.Transports.Epoll.Native;

namespace FastPort.Transports.Epoll;

/// <summary>
/// A stream socket bound to one <see cref="EpollLoop"/>. Only that loop reads and closes the socket. Other threads write
/// and may send (<see cref="EpollOutput"/>), and request everything else through <see cref="Request"/>. Requests are a set of bits, so a
/// connection is in the loop's inbox at most once.
/// </summary>
internal sealed partial class EpollConnection : TransportConnection, ILoopHandler, ILoopTask
{
    // From this size on, bytes are sent at once: the copy into the kernel costs more than the peer's wake-up, and the bytes are still in
    // the cache.
    private const int FlushAtOnceBytes = 32 * 1024;

    private const uint Watched = Libc.EpollIn | Libc.EpollOut | Libc.EpollRdHup | Libc.EpollEdge;
    private const uint WatchedForInput = Watched & ~Libc.EpollOut;

    // Requests to the loop: bits of _requested.
    internal const int FlushRequested = 2;
    internal const int ResumeRequested = 4;
    private const int StartRequested = 1;
    private const int WorkRequested = 8;
    private const int ContinueRequested = 16;

    private readonly EpollLoopGroup _group;
    private readonly EpollLoop _loop;
    private readonly ReceiveBuffer _input;
    private readonly EpollOutput _output;
    private int _requested;

    /// <param name="descriptor">A connected, non-blocking socket; the connection owns it from now on.</param>
    /// <param name="group">The loops.</param>
    /// <param name="loop">The loop acquired for the connection; released when the connection ends.</param>
    /// <param name="settings">Settings.</param>
    /// <param name="remote">The peer's address.</param>
    /// <param name="local">The address on this side.</param>
    public EpollConnection(
        int descriptor, EpollLoopGroup group, EpollLoop loop, ConnectionSettings settings, EndPoint? remote, EndPoint? local)
        : base(settings, remote, local is IPEndPoint ? null : NativeSocket.ReadPeer(descriptor))
    {
        Descriptor = descriptor;
        _group = group;
        _loop = loop;
        LocalEndPoint = local;
        _input = new ReceiveBuffer(settings.MaxReceiveBytes, ReceivePool);
        _output = new EpollOutput(this, settings);
    }

    public int Descriptor { get; }

    public override EndPoint? LocalEndPoint { get; }

    protected override long Received => _input.BytesReceived;

    public override long PendingBytes => _output.PendingBytes;

    public override bool IsSendBlocked => _output.IsBlocked;

    protected override SendQueue Output => _output;

    public override bool IsOnLoop => ReferenceEquals(EpollLoop.Current, _loop);

    internal override bool IsLoopWrite => _output.IsLoopWrite;

    ILoopTask? ILoopTask.Next { get; set; }

    public override ArrayPoolCircularBuffer? BeginWrite() => _output.BeginWrite();

    public override void EndWrite() => _output.EndWrite();

    internal override bool TryEndWrite() => _output.EndWrite(unlessFinal: true);

    internal override void EndFinalWrite() => _output.EndWrite(isFinal: true);

    public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) =>
        _output.TryWriteBorrowed(memory, release, state);

    public override bool TryAppendBatch(ArrayPoolCircularBuffer ring, ref ArrayPoolCircularBuffer batch) =>
        IsOnLoop ? base.TryAppendBatch(ring, ref batch) : _output.TryAppendBatch(onLoop: false, ref batch);

    public override void Flush()
    {
        RequestTick();
        if (IsOnLoop)
        {
            if (_output.PendingBytes >= FlushAtOnceBytes)
            {
                _output.SendOnLoop();
            }
            else
            {
                FlushAtEndOfRound();
            }
        }
        else if (_output.PendingBytes != 0 && !_output.TrySendByWriter(_loop))
        {
            Request(FlushRequested);
        }
    }

    public override void FlushNow()
    {
        if (!IsOnLoop)
        {
            Flush();
        }
        else if (_output.PendingBytes != 0)
        {
            RequestTick();
            _output.SendOnLoop();
        }
    }

    public override void ResumeReading() => Request(ResumeRequested);

    void ILoopTask.RunOnLoop()
    {
        int requested = Interlocked.Exchange(ref _requested, 0);
        if (Is(LifeFlags.Released))
        {
            return;
        }

        if (Is(LifeFlags.Ended))
        {
            TryRelease();
            return;
        }

        if (!Has(ReadFlags.Open))
        {
            if ((requested & StartRequested) == 0)
            {
                // The start request handles the other requests.
                return;
            }

            // First: the protocol may fill the socket when it is opened, and the loop then waits for room.
            Watch();
            Open();
            requested = FlushRequested | ResumeRequested | WorkRequested;
        }

        if ((requested & WorkRequested) != 0)
        {
            RunWork();
        }

        if ((requested & FlushRequested) != 0)
        {
            FlushAtEndOfRound();
        }

        if ((requested & ResumeRequested) != 0)
        {
            Set(ReadFlags.Waiting, false);
        }

        if ((requested & (ResumeRequested | ContinueRequested)) != 0)
        {
            Pump();
        }
    }

    void ILoopHandler.OnReady(uint events)
    {
        if ((events & Libc.EpollOut) != 0)
        {
            _output.Writable();
            if (_output.PendingBytes != 0)
            {
                FlushAtEndOfRound();
            }
        }

        if ((events & ~(Libc.EpollOut)) == 0)
        {
            return;
        }

        Set(ReadFlags.Readable);
        if ((events & (Libc.EpollRdHup | Libc.EpollHup | Libc.EpollErr)) != 0)
        {
            Set(ReadFlags.PeerEnded);
        }

        if (Has(ReadFlags.Waiting))
        {
            TryWait();
        }

        Pump();
    }

    /// <summary>Called at the end of the loop's round.</summary>
    public void FlushRound()
    {
        Set(ReadFlags.FlushQueued, false);
        if (!Is(LifeFlags.Released))
        {
            _output.SendOnLoop();
        }
    }

    protected override void BeginLoop() => Request(StartRequested);

    protected override void WakeLoop() => Request(WorkRequested);

    protected override void OnClosing() => _output.ShutDown();

    protected override void OnAborted() => Request(ResumeRequested);

    internal override void ShutDownOutput()
    {
        OutputIsDown();
        _ = Libc.Shutdown(Descriptor, Libc.ShutWrite);
        Request(ResumeRequested);
    }

    /// <summary>
    /// Whether the system reports when the socket is writable again; false when it refuses. Called by the sender: when the socket is full,
    /// with <paramref name="forRoom"/>, and on the loop when it has accepted all bytes, without. A Unix socket reports that it is writable
    /// after each piece that the peer reads, even when no send was refused: it would wake the loop for nearly each send, so it is watched
    /// only while it is full. A TCP socket reports it once, and only after a refused send: it is always watched.
    /// </summary>
    internal bool TryAwaitWritable(bool forRoom) =>
        LocalEndPoint is IPEndPoint || _loop.TryWatchFor(Descriptor, forRoom ? Watched : WatchedForInput);

    /// <summary>Called by the sender when a send fails.</summary>
    internal void OutputFailed(int error) => Abort(Lost(error));

    /// <summary>Requests something of the loop, on any thread. The first request posts the connection to its inbox.</summary>
    internal void Request(int what)
    {
        if (!Is(LifeFlags.Released) && Interlocked.Or(ref _requested, what) == 0)
        {
            _loop.Post(this);
        }
    }

    private void FlushAtEndOfRound()
    {
        if (!Has(ReadFlags.FlushQueued))
        {
            Set(ReadFlags.FlushQueued);
            _loop.FlushLater(this);
        }
    }

    private void Watch()
    {
        Set(ReadFlags.Watched, _loop.TryWatch(Descriptor, Watched, this));
        if (!Has(ReadFlags.Watched))
        {
            Lose(Lost(Errno.Last));
        }
    }

    protected override void End()
    {
        if (TryBeginEnd())
        {
            _input.Ring.Dispose();
            _output.Close();
            TryRelease();
        }
    }

    // When another thread is sending, the flush that it posts after its send makes the loop call this method again.
    private void TryRelease()
    {
        if (_output.TryFinish())
        {
            Finish();
        }
    }

    internal override void Finish()
    {
        TrySet(LifeFlags.Released);
        LeaveClock();
        if (Has(ReadFlags.Watched))
        {
            _loop.Forget(Descriptor);
        }

        if (EndsByReset)
        {
            NativeSocket.ResetOnClose(Descriptor);
        }

        _ = Libc.Close(Descriptor);
        CompleteEnd();
        _group.Release(_loop);
    }

    private static CloseReason Lost(int error) =>
        new(CloseKind.ConnectionLost, $"The connection was lost ({Errno.ToSocketError(error)}).");
}
