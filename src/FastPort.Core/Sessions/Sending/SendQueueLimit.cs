using FastPort.Connections;

namespace FastPort.Sessions.Sending;

/// <summary>
/// The bound on the bytes that wait for a session's peer, and its policy. Safe from any thread.
/// </summary>
internal sealed class SendQueueLimit(Connection connection, SessionOptions options)
{
    // What may wait above the bound before it is known whether the peer takes it. One batch for senders that can wait. More for those that
    // cannot, but not all of the connection's reserve: what exceeds that costs the session, whatever its policy says, and replies need it.
    private readonly int _slack =
        options.SendQueueFull == SendQueueFullPolicy.Wait
            ? FrameOutput.BatchChunk
            : Math.Max(FrameOutput.BatchChunk, 2 * options.MaxFrameBytes);

    private long _messagesDropped;

    /// <summary>Messages that found no room and were dropped.</summary>
    public long MessagesDropped => Volatile.Read(ref _messagesDropped);

    public bool IsFull => connection.PendingBytes >= options.SendQueueBytes;

    /// <summary>
    /// What a burst has written since its last flush may be all that fills the queue: the socket is tried before anybody is held to blame.
    /// </summary>
    public bool TryMake()
    {
        connection.Flush();

        // Where another thread is just sending, the peer has not been found wanting yet: nobody is dropped or disconnected for it. Who can
        // wait waits all the same before it outruns that thread.
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

    /// <summary>Asks for one call of <see cref="IConnectionProtocol.OnOutputDrained"/> when half of the bound is free.</summary>
    public void NotifyWhenDrained() => connection.NotifyWhenDrained(options.SendQueueBytes / 2);

    /// <summary>Completes when half of the bound is free, or the connection closes.</summary>
    public Task WhenDrainedAsync(CancellationToken cancellationToken = default) =>
        IsFull ? connection.WaitForRoomAsync(options.SendQueueBytes / 2, cancellationToken).AsTask() : Task.CompletedTask;
}
