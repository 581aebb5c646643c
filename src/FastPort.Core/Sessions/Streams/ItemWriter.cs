using System.Threading.Tasks.Sources;
using FastPort.Framing;
using FastPort.Sessions.Sending;

namespace FastPort.Sessions.Streams;

/// <summary>What became of an item.</summary>
internal enum StreamWrite
{
    /// <summary>It is in the send queue. The caller flushes.</summary>
    Written,

    /// <summary>The peer has granted no credit: await <see cref="ItemWriter.WhenGrantedAsync"/>.</summary>
    NoCredit,

    /// <summary>The send queue is full: await <see cref="ItemWriter.WhenRoomAsync"/>.</summary>
    NoRoom,

    /// <summary>The item exceeds the frame limit.</summary>
    TooLarge,

    /// <summary>The stream or the session has ended.</summary>
    Ended,
}

/// <summary>
/// Sends the items of one direction of a stream within the credit that the peer grants. One producer writes and waits, the loop grants, any
/// thread ends. <see cref="_gate"/> guards grants, the end and the wait, and is not taken for an item; no other code is called under it.
/// <para>
/// An item that is being written when the stream ends on another thread may follow the last frame. The peer ignores it.
/// </para>
/// </summary>
/// <param name="output">The session's output.</param>
/// <param name="policy">The session's policy for a full send queue.</param>
/// <param name="type">Message type of the call.</param>
/// <param name="flags">Flags of an item.</param>
internal sealed class ItemWriter(FrameOutput output, SendQueueFullPolicy policy, ushort type, FrameFlags flags)
    : IValueTaskSource<bool>, IAwaitedStream
{
    private readonly Lock _gate = new();
    private bool _waits;

    // The sums since the opening: the credit is their difference. The producer adds what it sends before the peer can see it.
    private long _grantedMessages;
    private long _grantedBytes;
    private long _sentMessages;
    private long _sentBytes;
    private volatile bool _ended;
    private ManualResetValueTaskSourceCore<bool> _source;
    private Resumption? _resumption;

    /// <summary>The call's correlation. Set before the first item.</summary>
    public uint Correlation { private get; set; }

    /// <summary>Whether the stream takes no more items.</summary>
    public bool HasEnded => _ended;

    private bool HasCredit =>
        Volatile.Read(ref _grantedMessages) > _sentMessages && Volatile.Read(ref _grantedBytes) > _sentBytes;

    /// <summary>Writes an item if there is credit and room for it now. By the producer.</summary>
    public StreamWrite TryWrite<TBody>(scoped in TBody body)
        where TBody : IFrameBody
    {
        int size = body.Size;
        if (!FrameWriter.Fits(size, output.Limit))
        {
            return StreamWrite.TooLarge;
        }

        if (output.QueueLimit.IsFull && !output.QueueLimit.TryMake())
        {
            if (policy != SendQueueFullPolicy.Disconnect)
            {
                // A closing connection makes no room: a wait for it would end at once.
                return _ended || output.IsClosing ? StreamWrite.Ended : StreamWrite.NoRoom;
            }

            output.QueueLimit.DisconnectSlowConsumer();
            return StreamWrite.Ended;
        }

        if (_ended)
        {
            return StreamWrite.Ended;
        }

        if (!HasCredit)
        {
            return StreamWrite.NoCredit;
        }

        Take(1, size);
        switch (output.TryWriteItem(type, flags, Correlation, in body, size))
        {
            case SendStatus.Queued:
                output.Streams.Sent();
                return StreamWrite.Written;
            case SendStatus.Full:
                Take(-1, -size);
                return StreamWrite.NoRoom;
            default:
                return StreamWrite.Ended;
        }
    }

    public void Flush() => output.FlushUnlessDeferred();

    /// <summary>Completes when there is credit: true, or when the stream has ended: false. By the producer, one wait at a time.</summary>
    public ValueTask<bool> WhenGrantedAsync()
    {
        lock (_gate)
        {
            if (_ended || HasCredit)
            {
                return new ValueTask<bool>(!_ended);
            }

            _source.Reset();
            _waits = true;
        }

        output.Streams.Stalled();
        return new ValueTask<bool>(this, _source.Version);
    }

    /// <summary>Completes when the send queue has room, the session has ended or the token is canceled. By the producer.</summary>
    public async ValueTask WhenRoomAsync(CancellationToken cancellationToken)
    {
        Task room = output.QueueLimit.WhenDrainedAsync(cancellationToken);
        await room.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>Adds a grant of the peer; false if a sum would exceed 2^31 - 1. Loop only, within a burst.</summary>
    public bool Grant(uint messages, uint bytes)
    {
        lock (_gate)
        {
            if (_ended)
            {
                return true;
            }

            if (_grantedMessages + messages - Volatile.Read(ref _sentMessages) > int.MaxValue
                || _grantedBytes + bytes - Volatile.Read(ref _sentBytes) > int.MaxValue)
            {
                return false;
            }

            Volatile.Write(ref _grantedMessages, _grantedMessages + messages);
            Volatile.Write(ref _grantedBytes, _grantedBytes + bytes);
            if (!_waits || !HasCredit)
            {
                return true;
            }

            _waits = false;
        }

        // Never on the loop: a producer may have much to send.
        (_resumption ??= new Resumption(this)).InBurst();
        return true;
    }

    /// <summary>Takes no more items; a waiting producer is resumed. Any thread, any number of times.</summary>
    public void End()
    {
        lock (_gate)
        {
            _ended = true;
            if (!_waits)
            {
                return;
            }

            _waits = false;
        }

        (_resumption ??= new Resumption(this)).OnPool();
    }

    private void Take(int messages, int bytes)
    {
        Volatile.Write(ref _sentMessages, _sentMessages + messages);
        Volatile.Write(ref _sentBytes, _sentBytes + bytes);
    }

    void IAwaitedStream.Resume() => _source.SetResult(!_ended);

    bool IValueTaskSource<bool>.GetResult(short token) => _source.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<bool>.GetStatus(short token) => _source.GetStatus(token);

    void IValueTaskSource<bool>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _source.OnCompleted(continuation, state, token, flags);
}
