using System.Net;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports.Epoll;

/// <summary>
/// A stream socket bound to one <see cref="EpollLoop"/>, which alone reads it and closes it. Other threads write
/// (<see cref="EpollOutput"/>), perhaps send (<see cref="EpollSender"/>) and ask for the rest through <see cref="Ask"/>: what is asked for
/// is a set of bits, so a connection waits in the loop's inbox once at most however much is asked of it.
/// </summary>
internal sealed partial class EpollConnection : TransportConnection, ILoopHandler, ILoopTask
{
    private const int MinimumCapacity = 1024;

    // What is longer leaves at once: from here on the copy into the kernel costs more than the peer's wake-up, and the bytes are still in
    // the cache.
    private const int FlushAtOnceBytes = 32 * 1024;

    private const uint Watched = Libc.EpollIn | Libc.EpollOut | Libc.EpollRdHup | Libc.EpollEdge;
    private const uint WatchedForInput = Watched & ~Libc.EpollOut;

    private const int AskStart = 1;
    private const int AskFlush = 2;
    private const int AskResume = 4;
    private const int AskWork = 8;

    private readonly EpollLoopGroup _group;
    private readonly EpollLoop _loop;
    private readonly ArrayPoolCircularBuffer _input;
    private readonly EpollOutput _output;
    private readonly EpollSender _sender;
    private long _received;
    private int _asked;
    private volatile bool _finished;

    // The loop's own from here on.
    private ulong _number;
    private int _askedEarly;
    private bool _started;
    private bool _watched;
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
        : base(settings)
    {
        Descriptor = descriptor;
        _group = group;
        _loop = loop;
        RemoteEndPoint = remote;
        LocalEndPoint = local;
        _input = new ArrayPoolCircularBuffer(MinimumCapacity, settings.MaxReceiveBytes, settings.ReceivePool);
        _output = new EpollOutput(this, settings);
        _sender = new EpollSender(this, _output);
    }

    public int Descriptor { get; }

    private bool IsTcp => LocalEndPoint is IPEndPoint;

    public override EndPoint? RemoteEndPoint { get; }

    public override EndPoint? LocalEndPoint { get; }

    public override long BytesReceived => Volatile.Read(ref _received);

    public override long BytesSent => _sender.BytesSent;

    public override long PendingBytes => _sender.Pending;

    public override bool IsSendBlocked => _sender.IsBlocked;

    internal override long SendCalls => _sender.SendCalls;

    public override bool IsOnLoop => ReferenceEquals(EpollLoop.Current, _loop);

    internal override bool IsLoopWrite => _output.IsLoopWrite;

    ILoopTask? ILoopTask.Next { get; set; }

    public override ArrayPoolCircularBuffer? BeginWrite() => _output.BeginWrite();

    public override void EndWrite() => _output.EndWrite();

    internal override bool TryEndWrite() => _output.TryEndWrite();

    internal override void EndFinalWrite() => _output.EndFinalWrite();

    public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) =>
        _output.TryWriteBorrowed(memory, release, state);

    public override bool TryAppendBatch(ArrayPoolCircularBuffer ring, ref ArrayPoolCircularBuffer batch) =>
        IsOnLoop ? base.TryAppendBatch(ring, ref batch) : _output.TryAppendBatch(onLoop: false, ref batch);

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

    public override void ResumeReading() => Ask(AskResume);

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
            // What was asked for before the start waits for it.
            asked |= _askedEarly;
            _askedEarly = asked;
            if ((asked & AskStart) == 0)
            {
                return;
            }

            _started = true;
            Open();
            Watch();
            asked |= AskWork;
        }

        if ((asked & AskWork) != 0)
        {
            RunWork();
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

    protected override void BeginLoop() => Ask(AskStart);

    protected override void WakeLoop() => Ask(AskWork);

    protected override void OnClosing()
    {
        _output.EndWrites();
        Ask(AskFlush | AskResume);
    }

    protected override void OnAborted() => Ask(AskResume);

    /// <summary>The last byte is sent: ends this side of the stream. By the loop, as sender.</summary>
    internal void ShutDownOutput()
    {
        OutputIsDown();
        _ = Libc.Shutdown(Descriptor, Libc.ShutWrite);
        Ask(AskResume);
    }

    /// <summary>
    /// The socket has taken all; on the loop, as sender. A Unix socket reports that it takes bytes with each piece that the peer reads,
    /// also to who was not refused any: it would wake the loop for nearly each send. A TCP socket tells who was refused, once.
    /// </summary>
    internal void AwaitNoWritable()
    {
        if (!IsTcp)
        {
            // Where the system refuses, the loop is woken more often than need be, and nothing is lost.
            _ = TryWatch(forRoom: false);
        }
    }

    /// <summary>The socket takes no more; by whoever sends. False where the system refuses to tell when it does.</summary>
    internal bool TryAwaitWritable() => IsTcp || TryWatch(forRoom: true);

    /// <summary>
    /// Reports input, and, where that is asked for or the socket is TCP's, that it takes bytes again. False where the system refuses.
    /// </summary>
    internal bool TryWatch(bool forRoom) => _loop.TryWatchFor(Descriptor, forRoom || IsTcp ? Watched : WatchedForInput, _number);

    /// <summary>The socket refused to send; by whoever sends.</summary>
    internal void OutputFailed(int error) => Abort(Lost(error));

    // Where nothing is asked yet the connection goes to the loop's inbox; where something is, it waits there already.
    private void Ask(int what)
    {
        if (!_finished && Interlocked.Or(ref _asked, what) == 0)
        {
            _loop.Post(this);
        }
    }

    /// <summary>There is more to send, or to end, than this turn can; any thread.</summary>
    internal void FlushNextRound() => Ask(AskFlush);

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
        _watched = _loop.TryWatch(Descriptor, Watched, this, out _number);
        if (!_watched)
        {
            Lose(Errno.Last);
            Pump();
        }
    }

    private void Lose(int error)
    {
        CloseFor(Lost(error));
        _lost = true;
    }

    protected override void End()
    {
        if (_ended)
        {
            return;
        }

        CloseFor(CloseReason.LocalClosed);
        _ended = true;
        _input.Dispose();
        _output.CloseWrites();
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
        LeaveClock();
        if (_watched)
        {
            _loop.Forget(_number);
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
