using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Framing;

namespace FastPort.Sessions.Sending;

/// <content>Batches of one-way frames: encoded into the batch's own ring without a lock, and appended chunk by chunk.</content>
internal sealed partial class FrameOutput
{
    /// <summary>
    /// Bytes after which a chunk is appended: large enough to make locks and system calls rare, small enough to stay in the cache.
    /// </summary>
    public const int BatchChunk = 128 * 1024;

    // One writer is kept for the next batch: a session rarely has two at a time.
    private BatchWriter? _spareBatch;

    /// <param name="solicited">Whether a request of the peer asked for these messages.</param>
    public BatchWriter BeginBatch(bool solicited)
    {
        BatchWriter batch = Interlocked.Exchange(ref _spareBatch, null) ?? new BatchWriter(this);
        batch.Begin(_connection.BeginBatch(), solicited);
        return batch;
    }

    /// <summary>Whether a batch may continue; if the queue is full, the policy decides.</summary>
    public SendStatus AdmitBatch(bool solicited)
    {
        if (_end.IsAnnounced || _connection.IsClosing)
        {
            return SendStatus.Closed;
        }

        if (!solicited && !CanSendUnsolicited)
        {
            return SendStatus.NotReady;
        }

        return QueueLimit.IsFull && !QueueLimit.TryMake() ? QueueLimit.Refuse() : SendStatus.Queued;
    }

    /// <summary>
    /// Appends a batch's frames after everything written so far and flushes. If that is impossible, the frames are dropped and counted.
    /// </summary>
    public SendStatus AppendBatch(ref ArrayPoolCircularBuffer batch, int messages)
    {
        SendStatus status = TryAppend(ref batch, messages);
        if (status == SendStatus.Queued)
        {
            FlushUnlessDeferred();
            return status;
        }

        batch.Consume(batch.Length);
        QueueLimit.CountDropped(messages);
        if (status == SendStatus.Full)
        {
            // The frames were accepted, and the peer is so far behind that not even the reserve has room for them.
            QueueLimit.DisconnectSlowConsumer();
        }

        return SendStatus.Closed;
    }

    // Writes one frame as a batch: its body is encoded while neither other writers nor the receiver are excluded, and then appended.
    private SendStatus WriteInLine<TBody>(ushort type, scoped in TBody body, int size)
        where TBody : IFrameBody, allows ref struct
    {
        if (!FrameWriter.Fits(size, Limit))
        {
            return SendStatus.TooLarge;
        }

        ArrayPoolCircularBuffer batch = _connection.BeginBatch();
        try
        {
            return FrameWriter.TryWrite(batch, type, FrameFlags.OneWay, 0, 0, ref Unsafe.AsRef(in body), size)
                ? TryAppend(ref batch, messages: 1)
                : SendStatus.Full;
        }
        finally
        {
            _connection.EndBatch(batch);
        }
    }

    // Returns Queued, Closed or Full; the batch is unchanged unless Queued.
    private SendStatus TryAppend(ref ArrayPoolCircularBuffer batch, int messages)
    {
        var status = SendStatus.Closed;
        using (var write = new RingWrite(this, ref status, messages: messages))
        {
            if (write.Ring is { } ring)
            {
                // A batch also does not fit if a final write came in between.
                status = _connection.TryAppendBatch(ring, ref batch) ? SendStatus.Queued
                    : _end.IsAnnounced ? SendStatus.Closed
                    : SendStatus.Full;
            }
        }

        return status;
    }

    public void EndBatch(BatchWriter batch, ArrayPoolCircularBuffer ring)
    {
        _connection.EndBatch(ring);
        Volatile.Write(ref _spareBatch, batch);
    }
}
