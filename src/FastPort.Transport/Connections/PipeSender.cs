using System.Buffers;
using System.IO.Pipelines;

namespace FastPort.Connections;

/// <summary>
/// Moves flushed bytes from a handler's pipe into a connection's send ring. One task (<see cref="RunAsync"/>) reads the pipe. It runs on
/// the thread of the flush that woke it, so that a flush costs no thread switch, and waits for the peer asynchronously.
/// </summary>
internal sealed class PipeSender
{
    private readonly Pipe _pipe;
    private readonly int _bound;
    private volatile bool _closed;
    private volatile bool _ended;

    public PipeSender(int bound)
    {
        _bound = bound;
        _pipe = new Pipe(new PipeOptions(
            readerScheduler: PipeScheduler.Inline,
            writerScheduler: PipeScheduler.ThreadPool,
            pauseWriterThreshold: bound,
            resumeWriterThreshold: bound / 2,
            useSynchronizationContext: false));
    }

    public PipeWriter Writer => _pipe.Writer;

    /// <summary>Whether the writer was completed and all of its bytes are in the send ring.</summary>
    public bool HasEnded => _ended;

    /// <summary>
    /// Runs until the writer is completed or nothing can be sent any more. Never throws; returns the exception with which the writer was
    /// completed.
    /// </summary>
    public async Task<Exception?> RunAsync(Connection connection)
    {
        PipeReader reader = _pipe.Reader;
        try
        {
            while (!_closed)
            {
                ReadResult read = await reader.ReadAsync().ConfigureAwait(false);
                if (read.Buffer.IsEmpty)
                {
                    if (read.IsCompleted)
                    {
                        _ended = true;
                        break;
                    }

                    reader.AdvanceTo(read.Buffer.End);
                    continue;
                }

                int taken = connection.PendingBytes <= _bound ? TryWrite(connection, read.Buffer) : 0;
                if (taken < 0)
                {
                    break;
                }

                // Only the taken bytes are marked as examined: the next read returns the rest at once.
                reader.AdvanceTo(read.Buffer.GetPosition(taken));
                connection.Flush();

                // A full ring smaller than the bound has room when it is empty.
                long room = connection.PendingBytes > _bound ? _bound / 2 : taken == 0 ? 0 : long.MaxValue;
                if (!await connection.WaitForRoomAsync(room).ConfigureAwait(false))
                {
                    break;
                }
            }

            return null;
        }
        catch (Exception e)
        {
            return e;
        }
        finally
        {
            // From now on flushes return IsCompleted.
            reader.Complete();
        }
    }

    public void OnClosed()
    {
        _closed = true;
        _pipe.Reader.CancelPendingRead();
    }

    // Bytes copied to the send ring; 0 if it is full, -1 if nothing can be sent any more.
    private int TryWrite(Connection connection, in ReadOnlySequence<byte> bytes)
    {
        ArrayPoolCircularBuffer? ring = connection.BeginWrite();
        if (ring is null)
        {
            return -1;
        }

        try
        {
            // At least one byte fits a ring that is not full, so the wait for room ends.
            int count = (int)Math.Min(bytes.Length, Math.Min(_bound, ring.MaximumCapacity - ring.Length));
            foreach (ReadOnlyMemory<byte> segment in bytes.Slice(0, count))
            {
                ring.Write(segment.Span);
            }

            return count;
        }
        finally
        {
            connection.EndWrite();
        }
    }
}
