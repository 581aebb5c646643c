using System.Runtime.CompilerServices;
using FastPort.Connections;

namespace FastPort.Sessions.Sending;

/// <summary>The bound on the bytes that wait for a session's peer, and the policy at the bound. Safe from any thread.</summary>
internal sealed class SendQueueLimit(Connection connection, SessionOptions options)
{
    // Bytes allowed above the bound while it is unknown whether the peer reads. One batch for senders that can wait, more for those that
    // cannot, but less than the connection's reserve: replies need it, and a write that exceeds it aborts the session whatever the policy.
    private readonly int _slack =
        options.SendQueueFull == SendQueueFullPolicy.Wait
            ? FrameOutput.BatchChunk
            : Math.Max(FrameOutput.BatchChunk, 2 * options.MaxFrameBytes);

    private readonly int _bound = options.SendQueueBytes;
    private readonly int _half = options.SendQueueBytes / 2;

    // From this many pending bytes on, a send asks whether somebody waits for room: the bound while nobody waits, and just above half of it
    // once a wait has begun. A field, because each message compares with it.
    private int _line = options.SendQueueBytes;
    private long _messagesDropped;

    /// <summary>Number of messages dropped because there was no room.</summary>
    public long MessagesDropped => Volatile.Read(ref _messagesDropped);

    /// <summary>
    /// Whether there is no room: at the bound or, while somebody waits for half of it, above a line that falls from the bound to there.
    /// Of what becomes free those who do not wait get one half, and who waits the other. A session that is disconnected at the bound is so
    /// only there.
    /// </summary>
    public bool IsFull
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => connection.PendingBytes is var pending && pending >= Volatile.Read(ref _line) && IsFullAt(pending);
    }

    // A session that is disconnected at the bound leaves nobody behind.
    private bool IsAwaited => connection.AwaitedPending >= _half && options.SendQueueFull != SendQueueFullPolicy.Disconnect;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool IsFullAt(long pending)
    {
        if (pending >= _bound)
        {
            return true;
        }

        if (IsAwaited)
        {
            return pending >= _bound - (connection.SentWhileAwaited / 2);
        }

        // A full fence: who begins to wait now is seen here, or writes the field after this.
        Interlocked.Exchange(ref _line, _bound);
        if (IsAwaited)
        {
            LowerLine();
        }

        return false;
    }

    // After the wait has begun.
    private void LowerLine() => Volatile.Write(ref _line, _half + 1);

    /// <summary>
    /// Flushes, and returns whether there is room then. Bytes that a burst wrote since its last flush may alone fill the queue, so the
    /// socket is tried before the peer counts as slow.
    /// </summary>
    public bool TryMake()
    {
        connection.Flush();

        // While another thread is sending, the peer does not count as slow: no message is dropped and no session disconnected yet. Senders
        // that can wait get less slack, so that they do not outrun that thread. Where somebody waits already, it is slow.
        return !IsFull || (!connection.IsSendBlocked && connection.PendingBytes < _bound + _slack && !IsAwaited);
    }

    /// <summary>Applies the policy to a one-way message that finds no room.</summary>
    public SendStatus Refuse()
    {
        // Nothing makes room any more: who waits for some would wait for the end.
        if (connection.IsClosing)
        {
            return SendStatus.Closed;
        }

        switch (options.SendQueueFull)
        {
            case SendQueueFullPolicy.DropOneWay:
                CountDropped();
                return SendStatus.Dropped;
            case SendQueueFullPolicy.Disconnect:
                DisconnectSlowConsumer();
                return SendStatus.Closed;
            default:
                return SendStatus.Full;
        }
    }

    public void CountDropped(int messages = 1)
    {
        Interlocked.Add(ref _messagesDropped, messages);

        // A message that is too long is dropped without a write, so nothing else requests a tick.
        connection.RequestTick();
    }

    public void DisconnectSlowConsumer() => connection.Abort(new CloseReason(
        CloseKind.SlowConsumer, $"{connection.PendingBytes} bytes were waiting for the peer; the bound is {_bound}."));

    /// <summary>Requests one call of <see cref="IConnectionProtocol.OnOutputDrained"/> when half of the bound is free.</summary>
    public void NotifyWhenDrained()
    {
        connection.NotifyWhenDrained(_half);
        LowerLine();
    }

    /// <summary>Completes when half of the bound is free, or the connection closes.</summary>
    public Task WhenDrainedAsync(CancellationToken cancellationToken = default)
    {
        if (!IsFull)
        {
            return Task.CompletedTask;
        }

        Task room = connection.WaitForRoomAsync(_half, cancellationToken).AsTask();
        LowerLine();
        return room;
    }
}
