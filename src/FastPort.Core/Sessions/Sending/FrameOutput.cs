using System.Diagnostics;
using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Lifecycle;
using FastPort.Sessions.Requests;

namespace FastPort.Sessions.Sending;

/// <summary>
/// The writing half of the frame protocol: writes frames into the connection's send ring, within the bound of <see cref="QueueLimit"/>.
/// Safe from any thread; the connection serializes writers.
/// </summary>
internal sealed partial class FrameOutput
{
    private readonly Connection _connection;
    private readonly SessionEnd _end;
    private readonly SessionTelemetry _telemetry;

    private long _sentOnLoop;
    private long _sentElsewhere;
    private int _peerLimit;
    private bool _mayPush;

    // Loop only.
    private bool _goodbyeSaid;

    public FrameOutput(Connection connection, SessionOptions options, SessionEnd end, SessionTelemetry telemetry)
    {
        _connection = connection;
        _end = end;
        _telemetry = telemetry;
        _peerLimit = options.MaxFrameBytes;
        QueueLimit = new SendQueueLimit(connection, options);
    }

    /// <summary>
    /// Whether unsolicited messages may be sent: always on the connecting side, after Hello on the accepting side.
    /// </summary>
    public bool CanSendUnsolicited
    {
        get => Volatile.Read(ref _mayPush);
        set => Volatile.Write(ref _mayPush, value);
    }

    /// <summary>The bound on the bytes that wait for the peer.</summary>
    public SendQueueLimit QueueLimit { get; }

    public long MessagesSent => Volatile.Read(ref _sentOnLoop) + Volatile.Read(ref _sentElsewhere);

    /// <summary>The limit for sent frames: the smaller one of both sides.</summary>
    public int Limit
    {
        get => Volatile.Read(ref _peerLimit);
        set => Volatile.Write(ref _peerLimit, value);
    }

    /// <summary>
    /// The output whose flush this thread defers; null for none. Set around each burst, whose end flushes all frames written in it.
    /// </summary>
    [field: ThreadStatic]
    private static FrameOutput? Deferred { get; set; }

    /// <summary>Number of this thread's open <see cref="FlushDeferral"/>s.</summary>
    [ThreadStatic]
    private static int _depth;

    public void BeginDeferral() => Deferred = this;

    public static void EndDeferral() => Deferred = null;

    /// <summary>
    /// Begins a deferral on another thread than the loop's, or nested in the loop's own. Returns the interrupted one, for
    /// <see cref="RestoreDeferral"/>.
    /// </summary>
    public FrameOutput? EnterDeferral()
    {
        FrameOutput? outer = Deferred;
        Deferred = this;
        return outer;
    }

    /// <summary>Restores the interrupted deferral without a flush.</summary>
    public static void RestoreDeferral(FrameOutput? outer) => Deferred = outer;

    /// <summary>Begins a deferral that <see cref="LeaveDeferral"/> ends.</summary>
    /// <param name="depth">Number of this thread's open deferrals, this one included; passed to <see cref="LeaveDeferral"/>.</param>
    public FrameOutput? EnterDeferral(out int depth)
    {
        depth = ++_depth;
        return EnterDeferral();
    }

    /// <exception cref="InvalidOperationException">The deferral has ended, or another thread began it.</exception>
    public void LeaveDeferral(FrameOutput? outer, int depth)
    {
        if (depth != _depth)
        {
            throw new InvalidOperationException(
                "The deferral of flushes has ended, or is not this thread's innermost one. Dispose it once, on the thread that began it.");
        }

        _depth--;
        Deferred = outer;
        FlushUnlessDeferred();
    }

    public void Flush() => _connection.Flush();

    /// <summary>Writes one frame regardless of the bytes that wait: for replies and control messages, which other limits bound.</summary>
    public SendStatus Write<TBody>(ushort type, FrameFlags flags, uint correlation, long received, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => Write(type, flags, correlation, received, in body, body.Size, FrameKind.Other);

    /// <summary>
    /// Writes a request, unless Goodbye has been said. The same write makes it outstanding. A request that was not written is not
    /// outstanding: the end of the session does not report it as lost, and a session that waits to leave does not count it.
    /// </summary>
    public SendStatus WriteRequest<TBody>(
        ushort type, FrameFlags flags, scoped in TBody body, PendingReply pending, OutstandingRequests outstanding, out uint correlation)
        where TBody : IFrameBody, allows ref struct
    {
        correlation = 0;
        int size = body.Size;
        if (!FrameWriter.Fits(size, Limit, flags))
        {
            return SendStatus.TooLarge;
        }

        var status = SendStatus.Closed;
        try
        {
            using var write = new RingWrite(this, ref status);
            if (write.Ring is { } ring)
            {
                SendStatus added = !ring.TryReserve(FrameHeader.Size + size) ? SendStatus.Full
                    : outstanding.TryAdd(pending, out correlation) ? SendStatus.Queued : SendStatus.Closed;
                if (added == SendStatus.Queued)
                {
                    FrameWriter.Write(ring, type, flags, correlation, 0, ref Unsafe.AsRef(in body), size);
                }

                status = added;
            }
        }
        finally
        {
            if (status != SendStatus.Queued && correlation != 0 && !outstanding.TryRemove(correlation, type, out _))
            {
                // The end of the session has failed the request already: its PendingReply tells, and the status must not tell it again.
                status = SendStatus.Queued;
            }
        }

        return status;
    }

    /// <summary>
    /// Writes Goodbye, once: the last frame that is neither a reply nor the Cancel of a request. On the loop, after
    /// <see cref="SessionEnd.Announce"/>.
    /// </summary>
    public void WriteGoodbye(CodeBody body)
    {
        Debug.Assert(_connection.IsOnLoop);
        CodeBody cut = body.CutTo(FrameLimits.MaxBodyBytes(Limit));
        ArrayPoolCircularBuffer? ring = _goodbyeSaid ? null : _connection.BeginWrite();
        if (ring is null)
        {
            return;
        }

        _goodbyeSaid = true;
        try
        {
            if (FrameWriter.TryWrite(ring, ControlType.Goodbye, FrameFlags.OneWay, 0, 0, ref cut, cut.Size))
            {
                CountSent(_connection.IsLoopWrite);
            }
        }
        finally
        {
            _connection.EndFinalWrite();
        }

        FlushUnlessDeferred();
    }

    /// <summary>
    /// Copies an encoded frame into the send queue. A frame that finds no room or exceeds the limit is dropped and counted, whatever the
    /// policy.
    /// </summary>
    public bool TryBroadcast(ReadOnlySpan<byte> frame) =>
        WasBroadcast(FrameWriter.Fits(frame.Length - FrameHeader.Size, Limit) ? TrySendEncoded(frame) : SendStatus.TooLarge);

    /// <summary>As <see cref="TryBroadcast"/>, for a large body. Only if true the body is lent, and released exactly once.</summary>
    public bool TryBroadcastBorrowed(ushort type, ReadOnlyMemory<byte> body, Action<object?> release, object state) =>
        WasBroadcast(TrySendBorrowed(type, body, release, state));

    private bool WasBroadcast(SendStatus status)
    {
        if (status is SendStatus.Full or SendStatus.TooLarge)
        {
            QueueLimit.CountDropped();
        }

        return status == SendStatus.Queued;
    }

    private SendStatus TrySendEncoded(ReadOnlySpan<byte> frame)
    {
        if (QueueLimit.IsFull && !QueueLimit.TryMake())
        {
            return QueueLimit.Refuse();
        }

        var status = SendStatus.Closed;
        using (var write = new RingWrite(this, ref status))
        {
            if (write.Ring is { } ring)
            {
                if (ring.TryReserve(frame.Length))
                {
                    ring.Write(frame);
                    status = SendStatus.Queued;
                }
                else
                {
                    status = SendStatus.Full;
                }
            }
        }

        if (status == SendStatus.Queued)
        {
            FlushUnlessDeferred();
        }

        return status;
    }

    // NoInlining for the reason given at BatchWriter.TrySend.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private SendStatus Write<TBody>(
        ushort type, FrameFlags flags, uint correlation, long received, scoped in TBody body, int size, FrameKind kind)
        where TBody : IFrameBody, allows ref struct
    {
        if (!FrameWriter.Fits(size, Limit, flags))
        {
            return SendStatus.TooLarge;
        }

        var status = SendStatus.Closed;
        using (var write = new RingWrite(this, ref status, kind == FrameKind.Other))
        {
            if (write.Ring is { } ring)
            {
                status = FrameWriter.TryWrite(ring, type, flags, correlation, received, ref Unsafe.AsRef(in body), size)
                    ? SendStatus.Queued
                    : SendStatus.Full;
            }
        }

        return kind == FrameKind.Other ? DisconnectIfFull(status) : status;
    }

    // A reply is never lost silently: a peer that does not read is disconnected.
    private SendStatus DisconnectIfFull(SendStatus status)
    {
        if (status != SendStatus.Full)
        {
            return status;
        }

        QueueLimit.DisconnectSlowConsumer();
        return SendStatus.Closed;
    }

    /// <summary>Writes a frame and flushes it, unless this thread defers flushes.</summary>
    public SendStatus WriteAndFlush<TBody>(ushort type, FrameFlags flags, uint correlation, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        SendStatus status = Write(type, flags, correlation, 0, in body);
        FlushUnlessDeferred();
        return status;
    }

    public SendStatus TrySendOneWay<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => TrySendOneWay(type, in body, body.Size);

    public SendStatus TrySendOneWay<TBody>(ushort type, scoped in TBody body, int size)
        where TBody : IFrameBody, allows ref struct
    {
        if (QueueLimit.IsFull && !QueueLimit.TryMake())
        {
            return QueueLimit.Refuse();
        }

        SendStatus status = size >= _connection.BatchesInLineFrom
            ? WriteInLine(type, in body, size)
            : Write(type, FrameFlags.OneWay, 0, 0, in body, size, FrameKind.OneWay);
        FlushUnlessDeferred();
        return status == SendStatus.Full ? QueueLimit.Refuse() : status;
    }

    public void FlushUnlessDeferred()
    {
        if (Deferred is null)
        {
            if (_group is { } group)
            {
                group.Add(this);
            }
            else if (ContinuationQueue.Running is { } continuations)
            {
                continuations.Flush(this);
            }
            else
            {
                _connection.Flush();
            }
        }
        else if (!ReferenceEquals(Deferred, this))
        {
            // Inside another session's burst: further messages of that burst to this session are sent with the same flush.
            _connection.FlushSoon();
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CountSent(bool onLoop, int messages = 1)
    {
        if (onLoop)
        {
            Volatile.Write(ref _sentOnLoop, _sentOnLoop + messages);
        }
        else
        {
            Interlocked.Add(ref _sentElsewhere, messages);
        }
    }

    private enum FrameKind
    {
        Other,
        OneWay,
    }
}
