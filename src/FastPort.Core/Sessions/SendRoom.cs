using FastPort.Connections;

namespace FastPort.Sessions;

/// <summary>
/// The bound on the bytes that wait for a session's peer: its policy, and those who wait for room. Safe from any thread. <see cref="_gate"/>
/// guards <see cref="_drained"/> only.
/// </summary>
internal sealed class SendRoom(Connection connection, SessionOptions options)
{
    // What may wait above the bound before it is known whether the peer takes it. One batch for senders that can wait. More for those that cannot, but not
    // all of the connection's reserve: what exceeds that costs the session, whatever its policy says, and replies need it.
    private readonly int _slack =
        options.SendQueueFull == SendQueueFullPolicy.Wait ? FrameOutput.BatchChunk : Math.Max(FrameOutput.BatchChunk, 2 * options.MaxFrameBytes);

    private readonly Lock _gate = new();
    private TaskCompletionSource? _drained;
    private long _messagesDropped;
    private bool _closed;

    /// <summary>Messages that found no room and were dropped.</summary>
    public long MessagesDropped => Volatile.Read(ref _messagesDropped);

    public bool IsFull => connection.PendingBytes >= options.SendQueueBytes;

    /// <summary>What a burst has written since its last flush may be all that fills the queue: the socket is tried before anybody is held to blame.</summary>
    public bool TryMake()
    {
        connection.Flush();

        // Where another thread is just sending, the peer has not been found wanting yet: nobody is dropped or disconnected for it. Who can wait waits all
        // the same before it outruns that thread.
        return !IsFull || (!connection.IsSendBlocked && connection.PendingBytes < options.SendQueueBytes + _slack);
    }

    /// <summary>There is none for a one-way message: what the policy makes of it.</summary>
    public SendStatus Refuse()
    {
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

        // What is too long is dropped where nothing else is sent.
        connection.RequestTick();
    }

    public void DisconnectSlowConsumer() => connection.Abort(new CloseReason(
        CloseKind.SlowConsumer, $"{connection.PendingBytes} bytes were waiting for the peer; the bound is {options.SendQueueBytes}."));

    /// <summary>Asks for one call of <see cref="OnDrained"/> when half of the bound is free.</summary>
    public void NotifyWhenDrained() => connection.NotifyWhenDrained(options.SendQueueBytes / 2);

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
        NotifyWhenDrained();
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
}
