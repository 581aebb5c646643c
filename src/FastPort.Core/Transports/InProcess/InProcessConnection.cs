using System.Net;
using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Transports.Sockets;

namespace FastPort.Transports.InProcess;

/// <summary>
/// One end of a link within the process. Its "loop" is its pump, a work item of the pool that runs on one thread at a time: it takes what the peer has
/// written from the <see cref="LinkLane"/> between them and offers it to the protocol.
/// <para>
/// Whoever has something for an end sets bits of its <see cref="_word"/> (<see cref="LinkSignals"/>); the one who finds the pump inactive puts it into the
/// pool's queue. A pump becomes inactive only by a compare-and-swap that fails when a bit was set meanwhile, so nothing is missed, and a pump that runs
/// needs no waking.
/// </para>
/// <para>
/// The pump never runs on the stack of the thread that sends: that one may hold locks that a handler wants, would be busy for as long as the peer's handler
/// is, and two ends that answer each other would pile up frames without end.
/// </para>
/// </summary>
internal sealed partial class InProcessConnection : Connection, IThreadPoolWorkItem
{
    private readonly ConnectionSettings _settings;
    private readonly InProcessEndPoint _address;
    private LinkLane _outbound = null!;
    private LinkLane _inbound = null!;
    private LinkInput _input = null!;
    private ArrayPoolCircularBuffer? _spareBatch;
    private WriteProgress _progress;
    private CloseReason? _reason;
    private long _deadline;
    private int _claimed;
    private int _ended;
    private volatile bool _closing;
    private volatile bool _aborted;
    private volatile bool _lost;
    private volatile bool _outputDown;

    private InProcessConnection(Endpoint endpoint, ConnectionSettings settings, int? spinMicroseconds)
    {
        Waiting = new LoopWaiting(spinMicroseconds);
        _settings = settings;
        _address = new InProcessEndPoint(endpoint);
        _progress = new WriteProgress(settings.WriteTimeout);
    }

    public override EndPoint? RemoteEndPoint => _address;

    public override EndPoint? LocalEndPoint => _address;

    public override long BytesReceived => _inbound.BytesReceived;

    public override long BytesSent => _outbound.BytesSent;

    public override long PendingBytes => _outbound.PendingBytes;

    public override bool IsSendBlocked => _outbound.IsBlocked;

    public override bool IsClosing => _closing;

    /// <summary>Makes both ends of a link.</summary>
    public static (InProcessConnection Connecting, InProcessConnection Accepted) CreatePair(
        Endpoint endpoint, (ConnectionSettings Settings, int? Spin) connecting, (ConnectionSettings Settings, int? Spin) accepting)
    {
        var first = new InProcessConnection(endpoint, connecting.Settings, connecting.Spin);
        var second = new InProcessConnection(endpoint, accepting.Settings, accepting.Spin);
        var there = new LinkLane(first, second, connecting.Settings);
        var back = new LinkLane(second, first, accepting.Settings);
        first.Join(there, back);
        second.Join(back, there);
        return (first, second);
    }

    public override ArrayPoolCircularBuffer? BeginWrite() => _outbound.BeginWrite();

    public override void EndWrite() => _outbound.EndWrite();

    public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) =>
        _outbound.TryWriteBorrowed(memory, release, state);

    public override ArrayPoolCircularBuffer BeginBatch() => Interlocked.Exchange(ref _spareBatch, null) ?? _outbound.CreateBatch();

    public override bool TryAppendBatch(ArrayPoolCircularBuffer ring, ref ArrayPoolCircularBuffer batch) =>
        _outbound.TryTakeIn(ref batch) || base.TryAppendBatch(ring, ref batch);

    public override void EndBatch(ArrayPoolCircularBuffer batch)
    {
        batch.Consume(batch.Length);
        batch.TryReleaseWhenEmpty();
        Volatile.Write(ref _spareBatch, batch);
    }

    public override void Flush()
    {
        RequestTick();
        _outbound.Flush();
    }

    public override void NotifyWhenDrained(long pendingBytes) => _outbound.NotifyWhenDrained(pendingBytes);

    public override void ResumeReading()
    {
        // The fence orders what the caller has changed before this look: a pump that is found at rest sees it when it runs next.
        Interlocked.MemoryBarrier();
        if ((Volatile.Read(ref _word) & (LinkSignals.Active | LinkSignals.Held)) != 0)
        {
            Signal(LinkSignals.Resumed);
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
        _outbound.ShutDown();
        Signal(LinkSignals.Look);
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

        Signal(LinkSignals.Look);
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

        // Not before the protocol is opened: a tick comes on the timer's thread and would find it half made. Nothing ends before the pump runs.
        _settings.Clock.Add(this);
        Schedule();
    }

    protected internal override long Tick(long nowMilliseconds)
    {
        bool stuck = _progress.IsStuck(nowMilliseconds, _outbound.BytesSent, _outbound.PendingBytes);
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

    /// <summary>Nothing of this side's bytes is its own any more: the time for draining input begins.</summary>
    internal void OutputShutDown()
    {
        Volatile.Write(ref _deadline, _settings.Clock.PreciseMilliseconds + (long)_settings.DrainTimeout.TotalMilliseconds);
        _outputDown = true;
        Signal(LinkSignals.Look);
    }

    /// <summary>Waiting bytes fell to what was asked for; by the peer's pump, or by whoever asked.</summary>
    internal void OutputDrained()
    {
        try
        {
            Protocol?.OnOutputDrained();
        }
        catch (Exception e)
        {
            // The peer's pump must not pay for a defect on this side.
            Fault(e);
        }
    }

    /// <summary>Calls the release of memory that this end's writers lent; by whoever has it, under no lock.</summary>
    internal void Release(in BorrowedSegments.Segment segment)
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

    /// <summary>The peer is gone and has not got all that was for it.</summary>
    internal void Lose()
    {
        Interlocked.CompareExchange(ref _reason, Lost, null);
        _closing = true;
        _lost = true;
        Signal(LinkSignals.Look);
    }

    /// <summary>The peer has given back what it had borrowed when this end's pump came to its end.</summary>
    internal void BorrowedIsBack() => Finish();

    private static CloseReason Lost { get; } = new(CloseKind.ConnectionLost, "The connection was lost (the other end of the link is gone).");

    private void Join(LinkLane outbound, LinkLane inbound)
    {
        _outbound = outbound;
        _inbound = inbound;
        _input = new LinkInput(inbound, _settings);
    }

    // Once: by the pump, or where there was none by whoever aborts.
    private void End()
    {
        if (Interlocked.Exchange(ref _ended, 1) != 0)
        {
            return;
        }

        Interlocked.CompareExchange(ref _reason, CloseReason.LocalClosed, null);
        _closing = true;
        _input.Dispose();

        // First the own side: a peer that aborts as well finds a reset, whatever it loses besides.
        bool isBack = _outbound.CloseSender();
        _inbound.CloseReceiver();
        if (isBack)
        {
            Finish();
        }
    }

    private void Finish()
    {
        _settings.Clock.Remove(this);
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
}
