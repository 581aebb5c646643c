using System.Buffers;
using System.Net;
using System.Net.Sockets;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>
/// A stream socket driven by SocketAsyncEventArgs. The "loop" of the connection is its pump: a state machine that runs on one pool thread at
/// a time, so receive ring and protocol need no lock.
/// <para>
/// It waits for data with a zero-byte receive, which needs no buffer, then receives straight into the ring until the kernel has no more.
/// States of the pump (<see cref="_state"/>, changed by compare-and-swap only): <c>Running</c> also while it waits for the socket;
/// <c>Parked</c> when the protocol paused it; <c>Again</c> when a resume came while it ran; <c>Done</c> at the end.
/// </para>
/// </summary>
internal sealed partial class SocketConnection : Connection, IThreadPoolWorkItem
{
    private const int Parked = 0;
    private const int Running = 1;
    private const int Again = 2;
    private const int Done = 3;

    // Milliseconds of the coarse clock.
    private const long LookForResetEvery = 1000;

    private readonly Socket _socket;
    private readonly ConnectionSettings _settings;
    private readonly SocketInput _input;
    private readonly SocketOutput _output;
    private readonly WaitArgs _wait;
    private WriteProgress _progress;
    private CloseReason? _reason;
    private long _deadline;
    private long _lookedForReset;
    private int _state = Running;
    private int _claimed;
    private bool _inputEndReported;

    // The pump's own: the protocol said Pause and has not been offered its bytes since.
    private bool _held;
    private bool _lost;
    private volatile bool _closing;
    private volatile bool _aborted;
    private volatile bool _outputDown;

    public SocketConnection(Socket socket, ConnectionSettings settings)
    {
        _socket = socket;
        _settings = settings;
        RemoteEndPoint = TryGet(static s => s.RemoteEndPoint);
        LocalEndPoint = TryGet(static s => s.LocalEndPoint);
        _input = new SocketInput(socket, settings);
        _output = new SocketOutput(socket, this, settings);
        _wait = new WaitArgs(this);
        _progress = new WriteProgress(settings.WriteTimeout);
    }

    public override EndPoint? RemoteEndPoint { get; }

    public override EndPoint? LocalEndPoint { get; }

    public override long BytesReceived => _input.Received;

    public override long BytesSent => _output.BytesSent;

    public override long PendingBytes => _output.PendingBytes;

    public override bool IsSendBlocked => _output.IsBlocked;

    public override bool IsClosing => _closing;

    internal override ArrayPool<byte> RingPool => _settings.Pool;

    public override ArrayPoolCircularBuffer? BeginWrite() => _output.BeginWrite();

    public override void EndWrite() => _output.EndWrite();

    public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) =>
        _output.TryWriteBorrowed(memory, release, state);

    public override void Flush()
    {
        RequestTick();
        _output.Flush();
    }

    public override void FlushSoon()
    {
        RequestTick();
        _output.FlushSoon();
    }

    public override void NotifyWhenDrained(long pendingBytes) => _output.NotifyWhenDrained(pendingBytes);

    public override void ResumeReading()
    {
        while (true)
        {
            int state = Volatile.Read(ref _state);
            if (state is Again or Done)
            {
                return;
            }

            int next = state == Parked ? Running : Again;
            if (Interlocked.CompareExchange(ref _state, next, state) == state)
            {
                if (state == Parked)
                {
                    ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                }

                return;
            }
        }
    }

    public override void Close(CloseReason reason)
    {
        if (Interlocked.CompareExchange(ref _reason, reason, null) is not null)
        {
            return;
        }

        Volatile.Write(ref _deadline, _settings.Clock.PreciseMilliseconds + (long)Math.Max(_settings.DrainTimeout.TotalMilliseconds, 1000));
        _closing = true;
        RequestTick();
        _output.ShutdownWhenFlushed();
        ResumeReading();
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
            // Never started: there is no pump that could come to its end.
            End();
            return;
        }

        try
        {
            // Ends pending operations on both sides, so that the pump itself comes to its end and disposes; no other thread disposes under it.
            _socket.Shutdown(SocketShutdown.Both);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Not connected any more: pending operations have ended already.
        }

        ResumeReading();
    }

    void IThreadPoolWorkItem.Execute() => Pump();

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

        // Not before the protocol is opened: a tick comes on the timer's thread and would find it half made. Nothing ends before the pump runs.
        _settings.Clock.Add(this);

        // On the pool: the caller is an accept loop, which no burst and no handler may hold up.
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    protected internal override long Tick(long nowMilliseconds)
    {
        bool stuck = _progress.IsStuck(nowMilliseconds, _output.BytesSent, _output.PendingBytes);
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

        if (IsResetWhileParked(nowMilliseconds))
        {
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
            return _progress.IsWaiting ? ConnectionClock.NextTick
                : Volatile.Read(ref _state) == Parked ? Math.Min(due, _lookedForReset + LookForResetEvery)
                : due;
        }
        catch (Exception e)
        {
            // The clock serves all connections: one protocol's defect ends its own.
            Fault(e);
            return ConnectionClock.NextTick;
        }
    }

    // Nothing waits at the socket of a parked connection, so nobody would hear that the peer has reset it: whoever works for this peer may stop.
    private bool IsResetWhileParked(long nowMilliseconds)
    {
        if (Volatile.Read(ref _state) != Parked || nowMilliseconds - _lookedForReset < LookForResetEvery)
        {
            return false;
        }

        _lookedForReset = nowMilliseconds;
        try
        {
            var error = (SocketError)(int)_socket.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.Error)!;
            if (error == SocketError.Success)
            {
                return false;
            }

            Abort(Lost(error));
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // It has just ended by itself.
        }

        return true;
    }

    /// <summary>The send side was shut down after its last byte: the time for draining input begins.</summary>
    internal void OutputShutDown()
    {
        Volatile.Write(ref _deadline, _settings.Clock.PreciseMilliseconds + (long)_settings.DrainTimeout.TotalMilliseconds);
        _outputDown = true;
        ResumeReading();
    }

    /// <summary>The socket refused to send. Its rings are given back already.</summary>
    internal void OutputFailed(SocketError error) => Abort(Lost(error));

    /// <summary>The callback of a writer that lent its memory threw.</summary>
    internal void ReleaseFailed(Exception exception) => TransportLog.ReleaseFault(_settings.Logger, Id, exception);

    /// <summary>The last flusher has ended after the pump did.</summary>
    internal void OutputQuiescent() => Finish();

    private void End()
    {
        Interlocked.CompareExchange(ref _reason, CloseReason.LocalClosed, null);
        _closing = true;
        Volatile.Write(ref _state, Done);
        _input.Ring.Dispose();
        if (_output.Close())
        {
            Finish();
        }
        else
        {
            // A flusher is waiting for the socket: make its operation fail.
            Abort(_reason!);
        }
    }

    private void Finish()
    {
        _settings.Clock.Remove(this);
        if (_aborted && !_outputDown && _reason!.Kind is not (CloseKind.PeerClosed or CloseKind.LocalClosed))
        {
            // What the peer did not take is not worth a lingering socket.
            try
            {
                _socket.LingerState = new LingerOption(enable: true, seconds: 0);
            }
            catch (SocketException)
            {
            }
        }

        _socket.Dispose();
        _wait.Dispose();
        try
        {
            Protocol?.OnClosed(_reason!);
        }
        catch (Exception e)
        {
            TransportLog.ProtocolFault(_settings.Logger, Id, e);
        }

        CompleteClosed(_reason!);
    }

    private void Fault(Exception e)
    {
        TransportLog.ProtocolFault(_settings.Logger, Id, e);
        Abort(new CloseReason(CloseKind.Internal, "The protocol threw; see the log.", Framing.ErrorCode.Internal, e));
    }

    private static CloseReason Lost(SocketError error) => new(CloseKind.ConnectionLost, $"The connection was lost ({error}).");

    private EndPoint? TryGet(Func<Socket, EndPoint?> read)
    {
        try
        {
            return read(_socket);
        }
        catch (SocketException)
        {
            // Reset before it was accepted.
            return null;
        }
    }
}
