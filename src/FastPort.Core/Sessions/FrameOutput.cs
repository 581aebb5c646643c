using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Framing;

namespace FastPort.Sessions;

/// <summary>
/// The writing half of the frame protocol: frames into the connection's send ring, the bound on waiting bytes and its policy, and those who
/// wait for room. Safe from any thread; the connection serialises writers. <see cref="_gate"/> guards <see cref="_drained"/> only.
/// </summary>
internal sealed class FrameOutput
{
    private readonly Connection _connection;
    private readonly SessionOptions _options;
    private readonly Lock _gate = new();
    private TaskCompletionSource? _drained;

    // Writers on the loop and writers elsewhere do not exclude each other; those elsewhere do.
    private long _sentOnLoop;
    private long _sentElsewhere;
    private long _messagesDropped;
    private int _peerLimit;
    private bool _closed;

    // Below this a copy costs less than a send of its own.
    private const int BorrowAtLeast = 16 * 1024;

    // Set within the connection's final write, looked at within every other, so that no request follows a Goodbye on the wire.
    private volatile bool _goodbyeSaid;

    public FrameOutput(Connection connection, SessionOptions options)
    {
        _connection = connection;
        _options = options;
        _peerLimit = options.MaxFrameBytes;
    }

    public long MessagesSent => Volatile.Read(ref _sentOnLoop) + Volatile.Read(ref _sentElsewhere);

    public long MessagesDropped => Volatile.Read(ref _messagesDropped);

    public bool IsFull => _connection.PendingBytes >= _options.SendQueueBytes;

    /// <summary>The frame limit for what is sent: the smaller of both sides'.</summary>
    public int Limit
    {
        get => Volatile.Read(ref _peerLimit);
        set => Volatile.Write(ref _peerLimit, value);
    }

    /// <summary>Set by the loop around a burst on its own thread: what is written there leaves with the burst's flush.</summary>
    [field: ThreadStatic]
    private static FrameOutput? Burst { get; set; }

    public void BeginBurst() => Burst = this;

    public static void EndBurst() => Burst = null;

    /// <summary>Begins a burst on a thread that is not the loop's, or inside the loop's own. Returns the burst that it interrupts.</summary>
    public FrameOutput? EnterBurst()
    {
        FrameOutput? outer = Burst;
        Burst = this;
        return outer;
    }

    public void LeaveBurst(FrameOutput? outer)
    {
        Burst = outer;
        FlushUnlessInBurst();
    }

    public void Flush() => _connection.Flush();

    /// <summary>Writes one frame whatever waits already: replies and control messages, which other bounds limit.</summary>
    public SendStatus Write<TBody>(ushort type, FrameFlags flags, uint correlation, long received, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => Write(type, flags, correlation, received, in body, FrameKind.Other);

    /// <summary>
    /// Writes a request, unless Goodbye has been said. It becomes outstanding in the same moment: one that was not written never is, so the
    /// end of the session cannot report as lost what was never sent, and a session that waits to leave does not count it.
    /// </summary>
    public SendStatus WriteRequest<TBody>(
        ushort type, bool timing, scoped in TBody body, PendingReply pending, OutstandingRequests outstanding, out uint correlation)
        where TBody : IFrameBody, allows ref struct
    {
        correlation = 0;
        int size = body.Size;
        if (!FrameWriter.Fits(size, Limit))
        {
            return SendStatus.TooLarge;
        }

        ArrayPoolCircularBuffer? ring = _connection.BeginWrite();
        if (ring is null)
        {
            return SendStatus.Closed;
        }

        bool written = false;
        try
        {
            if (_goodbyeSaid)
            {
                return SendStatus.Closed;
            }

            if (!ring.TryReserve(FrameHeader.Size + size))
            {
                return SendStatus.Full;
            }

            if (!outstanding.TryAdd(pending, out correlation))
            {
                return SendStatus.Closed;
            }

            FrameWriter.Write(
                ring, type, timing ? FrameFlags.Timing : FrameFlags.None, correlation, 0, ref System.Runtime.CompilerServices.Unsafe.AsRef(in body), size);
            CountSent();
            written = true;
            return SendStatus.Queued;
        }
        finally
        {
            _connection.EndWrite();
            if (!written && correlation != 0)
            {
                // The body threw, which the caller sees.
                outstanding.TryRemove(correlation, type, out _);
            }
        }
    }

    /// <summary>Says Goodbye: the last frame that is not a reply.</summary>
    public void WriteGoodbye(CodeBody body)
    {
        Write(ControlType.Goodbye, FrameFlags.OneWay, 0, 0, body.CutTo(FrameLimits.LargestBody(Limit)), FrameKind.Goodbye);
        FlushUnlessInBurst();
    }

    /// <summary>Copies a frame that is encoded already; one that finds no room or exceeds the limit is dropped and counted, whatever the policy.</summary>
    public bool TryBroadcast(ReadOnlySpan<byte> frame)
    {
        SendStatus status = FrameWriter.Fits(frame.Length - FrameHeader.Size, Limit) ? TrySendEncoded(frame) : SendStatus.TooLarge;
        if (status is SendStatus.Full or SendStatus.TooLarge)
        {
            Interlocked.Increment(ref _messagesDropped);
        }

        return status == SendStatus.Queued;
    }

    private SendStatus TrySendEncoded(ReadOnlySpan<byte> frame)
    {
        if (IsFull && !TryMakeRoom())
        {
            return Full();
        }

        ArrayPoolCircularBuffer? ring = _connection.BeginWrite();
        if (ring is null)
        {
            return SendStatus.Closed;
        }

        try
        {
            if (_goodbyeSaid)
            {
                return SendStatus.Closed;
            }

            if (!ring.TryReserve(frame.Length))
            {
                return SendStatus.Full;
            }

            ring.Write(frame);
            CountSent();
        }
        finally
        {
            _connection.EndWrite();
        }

        FlushUnlessInBurst();
        return SendStatus.Queued;
    }

    private SendStatus Write<TBody>(ushort type, FrameFlags flags, uint correlation, long received, scoped in TBody body, FrameKind kind)
        where TBody : IFrameBody, allows ref struct
    {
        int size = body.Size;
        if (!FrameWriter.Fits(size, Limit))
        {
            return SendStatus.TooLarge;
        }

        bool overflow = false;
        ArrayPoolCircularBuffer? ring = kind == FrameKind.Goodbye ? _connection.BeginFinalWrite() : _connection.BeginWrite();
        if (ring is null)
        {
            return SendStatus.Closed;
        }

        try
        {
            if (kind != FrameKind.Other)
            {
                if (_goodbyeSaid)
                {
                    return SendStatus.Closed;
                }

                _goodbyeSaid = kind == FrameKind.Goodbye;
            }

            if (!ring.TryReserve(FrameHeader.Size + FrameTiming.Size + size))
            {
                if (kind is not FrameKind.Other)
                {
                    return SendStatus.Full;
                }

                // A reply is never lost in silence: the peer that takes nothing is.
                overflow = true;
                return SendStatus.Closed;
            }

            FrameWriter.Write(ring, type, flags, correlation, received, ref System.Runtime.CompilerServices.Unsafe.AsRef(in body), size);
            CountSent();
            return SendStatus.Queued;
        }
        finally
        {
            _connection.EndWrite();
            if (overflow)
            {
                DisconnectSlowConsumer();
            }
        }
    }

    /// <summary>Writes and, outside this session's own burst, flushes.</summary>
    public SendStatus WriteAndFlush<TBody>(ushort type, FrameFlags flags, uint correlation, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        SendStatus status = Write(type, flags, correlation, 0, in body);
        FlushUnlessInBurst();
        return status;
    }

    public SendStatus TrySendOneWay<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        if (IsFull && !TryMakeRoom())
        {
            return Full();
        }

        SendStatus status = Write(type, FrameFlags.OneWay, 0, 0, in body, FrameKind.OneWay);
        FlushUnlessInBurst();
        return status == SendStatus.Full ? Full() : status;
    }

    /// <summary>Sends a one-way message without copying its body. Only with Queued the body is lent, and released once.</summary>
    public SendStatus TrySendBorrowed(ushort type, ReadOnlyMemory<byte> body, Action<object?>? release, object? state)
    {
        if (body.Length < BorrowAtLeast)
        {
            SendStatus copied = TrySendOneWay(type, new RawBody(body.Span));
            if (copied == SendStatus.Queued)
            {
                release?.Invoke(state);
            }

            return copied;
        }

        if (IsFull && !TryMakeRoom())
        {
            return Full();
        }

        SendStatus status = WriteBorrowed(type, FrameFlags.OneWay, 0, 0, body, release, state);
        FlushUnlessInBurst();
        return status == SendStatus.Full ? Full() : status;
    }

    /// <summary>Writes a reply without copying its body. Only with Queued the body is lent, and released once.</summary>
    public SendStatus WriteBorrowedReply(
        ushort type, FrameFlags flags, uint correlation, long received, ReadOnlyMemory<byte> body, Action<object?>? release, object? state)
    {
        if (body.Length >= BorrowAtLeast)
        {
            return WriteBorrowed(type, flags, correlation, received, body, release, state);
        }

        SendStatus copied = Write(type, flags, correlation, received, new RawBody(body.Span));
        if (copied == SendStatus.Queued)
        {
            release?.Invoke(state);
        }

        return copied;
    }

    private SendStatus WriteBorrowed(
        ushort type, FrameFlags flags, uint correlation, long received, ReadOnlyMemory<byte> body, Action<object?>? release, object? state)
    {
        if (!FrameWriter.Fits(body.Length, Limit))
        {
            return SendStatus.TooLarge;
        }

        bool isReply = (flags & FrameFlags.Reply) != 0;
        bool overflow = false;
        ArrayPoolCircularBuffer? ring = _connection.BeginWrite();
        if (ring is null)
        {
            return SendStatus.Closed;
        }

        try
        {
            if (!isReply && _goodbyeSaid)
            {
                return SendStatus.Closed;
            }

            long start = ring.WritePosition;
            if (ring.TryReserve(FrameHeader.Size + FrameTiming.Size))
            {
                FrameWriter.WriteHead(ring, type, flags, correlation, received, body.Length);
                if (_connection.TryWriteBorrowed(body, release, state))
                {
                    CountSent();
                    return SendStatus.Queued;
                }

                ring.RewindTo(start);
            }

            // As with copied frames: a reply is never lost in silence.
            overflow = isReply;
            return isReply ? SendStatus.Closed : SendStatus.Full;
        }
        finally
        {
            _connection.EndWrite();
            if (overflow)
            {
                DisconnectSlowConsumer();
            }
        }
    }

    private void CountSent()
    {
        ref long count = ref _connection.IsOnLoop ? ref _sentOnLoop : ref _sentElsewhere;
        Volatile.Write(ref count, count + 1);
    }

    public void DisconnectSlowConsumer() => _connection.Abort(new CloseReason(
        CloseKind.SlowConsumer, $"{_connection.PendingBytes} bytes were waiting for the peer; the bound is {_options.SendQueueBytes}."));

    public void FlushUnlessInBurst()
    {
        if (!ReferenceEquals(Burst, this))
        {
            _connection.Flush();
        }
    }

    /// <summary>Completes when half of the bound is free, or the session is over.</summary>
    public Task WhenDrainedAsync()
    {
        Task task;
        lock (_gate)
        {
            if (_closed || !IsFull)
            {
                return Task.CompletedTask;
            }

            task = (_drained ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
        }

        // Outside the lock: it may call back at once.
        _connection.NotifyWhenDrained(_options.SendQueueBytes / 2);
        return task;
    }

    public void OnDrained()
    {
        TaskCompletionSource? drained;
        lock (_gate)
        {
            drained = _drained;
            _drained = null;
        }

        drained?.SetResult();
    }

    public void OnClosed()
    {
        lock (_gate)
        {
            _closed = true;
        }

        OnDrained();
    }

    /// <summary>What a burst has written since its last flush may be all that fills the queue: the socket is tried before anybody is held to blame.</summary>
    public bool TryMakeRoom()
    {
        _connection.Flush();

        // Where another thread is just sending, the peer has not been found wanting yet; the ring's own capacity is the bound meanwhile.
        return !IsFull || !_connection.IsSendBlocked;
    }

    private SendStatus Full()
    {
        switch (_options.SendQueueFull)
        {
            case SendQueueFullPolicy.DropOneWay:
                Interlocked.Increment(ref _messagesDropped);
                return SendStatus.Dropped;
            case SendQueueFullPolicy.Disconnect:
                DisconnectSlowConsumer();
                return SendStatus.Closed;
            default:
                return SendStatus.Full;
        }
    }

    private enum FrameKind
    {
        Other,
        OneWay,
        Goodbye,
    }
}
