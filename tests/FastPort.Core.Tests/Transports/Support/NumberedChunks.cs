using System.Runtime.InteropServices;
using FastPort.Connections;
using FastPort.Core.Tests.Support;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>
/// A protocol whose every chunk carries a sequence number, as that of a secure channel does: the sender takes a lock of its own and numbers
/// the chunks in the order in which their writes end. The receiver checks that they arrive without a gap and as they were written.
/// <para>
/// A chunk: its length, its number, its writer, the writer's index (4 + 8 + 4 + 4 bytes), and bytes that follow from the last two.
/// </para>
/// </summary>
/// <param name="sender">Whose connection is written to.</param>
/// <param name="stampsLast">Whether the lock is held around stamp and EndWrite only; else around the whole write.</param>
internal sealed class NumberedChunks(TestProtocol sender, bool stampsLast)
{
    private const int Header = 20;
    private const int NumberAt = 4;
    private const int Longest = 100_000;

    private readonly Lock _stamp = new();
    private long _sent;
    private long _arrived;
    private string? _fault;

    /// <summary>Chunks that were written.</summary>
    public long Sent => Volatile.Read(ref _sent);

    /// <summary>Chunks that arrived.</summary>
    public long Arrived => Volatile.Read(ref _arrived);

    /// <summary>The first thing that was wrong.</summary>
    public string? Fault => Volatile.Read(ref _fault);

    /// <summary>Copies a chunk into the send ring; false where there is no room.</summary>
    public bool TryWrite(int writer, int index, int size) => TryWrite(ring =>
    {
        byte[] chunk = Encode(writer, index, size);
        if (!ring.TryReserve(chunk.Length))
        {
            return false;
        }

        ring.Write(chunk);
        return true;
    });

    /// <summary>Copies the header of a chunk and lends the rest.</summary>
    public bool TryLend(int writer, int index, int size) => TryWrite(ring =>
    {
        byte[] chunk = Encode(writer, index, size);
        var rest = new BorrowedBuffer(chunk[Header..]);
        if (!ring.TryReserve(Header))
        {
            return false;
        }

        long start = ring.WritePosition;
        ring.Write(chunk.AsSpan(0, Header));
        if (!sender.Connection.TryWriteBorrowed(rest.Bytes, BorrowedBuffer.Release, rest))
        {
            ring.RewindTo(start);
            return false;
        }

        return true;
    });

    /// <summary>Appends several chunks as a batch.</summary>
    public bool TryAppend(int writer, int index, int chunks, int size)
    {
        Connection connection = sender.Connection;
        ArrayPoolCircularBuffer batch = connection.BeginBatch();
        List<long> starts = [];
        for (int i = 0; i < chunks; i++)
        {
            starts.Add(batch.WritePosition);
            batch.Write(Encode(writer, index + i, size));
        }

        ArrayPoolCircularBuffer? ring = null;
        if (!stampsLast)
        {
            _stamp.Enter();
        }

        try
        {
            ring = connection.BeginWrite();
            if (ring is null)
            {
                return false;
            }

            if (stampsLast)
            {
                _stamp.Enter();
            }

            foreach (long start in starts)
            {
                Stamp(batch, start, _sent + starts.IndexOf(start));
            }

            bool appended = connection.TryAppendBatch(ring, ref batch);
            _sent += appended ? chunks : 0;
            return appended;
        }
        finally
        {
            if (ring is not null)
            {
                connection.EndWrite();
            }

            if (_stamp.IsHeldByCurrentThread)
            {
                _stamp.Exit();
            }

            connection.EndBatch(batch);
        }
    }

    /// <summary>What the receiver does with its input.</summary>
    public ReceiveOutcome Check(ArrayPoolCircularBuffer input)
    {
        byte[] header = new byte[Header];
        while (input.Length >= Header)
        {
            input.CopyTo(0, header);
            int size = BitConverter.ToInt32(header);
            if (size is < Header or > Longest)
            {
                Note($"Chunk {_arrived} says that it has {size} bytes.");
                input.Consume(input.Length);
                break;
            }

            if (input.Length < size)
            {
                break;
            }

            byte[] chunk = new byte[size];
            input.CopyTo(0, chunk);
            input.Consume(size);
            Check(chunk);
        }

        return ReceiveOutcome.Continue;
    }

    private void Check(byte[] chunk)
    {
        long number = BitConverter.ToInt64(chunk, NumberAt);
        int writer = BitConverter.ToInt32(chunk, 12);
        int index = BitConverter.ToInt32(chunk, 16);
        byte[] expected = Encode(writer, index, chunk.Length);
        if (number != _arrived)
        {
            Note($"Chunk {number} (writer {writer}, its {index}) came where chunk {_arrived} was expected.");
        }
        else if (!chunk.AsSpan(Header).SequenceEqual(expected.AsSpan(Header)))
        {
            Note($"Chunk {number} (writer {writer}, its {index}) is not what was written.");
        }

        Volatile.Write(ref _arrived, _arrived + 1);
    }

    // A write that appends one chunk at the end of the ring; nothing where the function says no.
    private bool TryWrite(Func<ArrayPoolCircularBuffer, bool> append)
    {
        Connection connection = sender.Connection;
        ArrayPoolCircularBuffer? ring = null;
        if (!stampsLast)
        {
            _stamp.Enter();
        }

        try
        {
            ring = connection.BeginWrite();
            if (ring is null)
            {
                return false;
            }

            long start = ring.WritePosition;
            if (!append(ring))
            {
                return false;
            }

            if (stampsLast)
            {
                _stamp.Enter();
            }

            Stamp(ring, start, _sent);
            _sent++;
            return true;
        }
        finally
        {
            if (ring is not null)
            {
                connection.EndWrite();
            }

            if (_stamp.IsHeldByCurrentThread)
            {
                _stamp.Exit();
            }
        }
    }

    private void Note(string fault) => Interlocked.CompareExchange(ref _fault, fault, null);

    // The chunk lies there already: its number is that of its place in the stream, whatever took its time.
    private static void Stamp(ArrayPoolCircularBuffer ring, long start, long number)
    {
        ReadOnlySpan<byte> left = BitConverter.GetBytes(number);
        foreach (ReadOnlyMemory<byte> part in ring.GetReadableSequence((int)(start - ring.ReadPosition) + NumberAt, left.Length))
        {
            left[..part.Length].CopyTo(MemoryMarshal.AsMemory(part).Span);
            left = left[part.Length..];
        }
    }

    private static byte[] Encode(int writer, int index, int size)
    {
        byte[] chunk = new byte[size];
        BitConverter.TryWriteBytes(chunk, size);
        BitConverter.TryWriteBytes(chunk.AsSpan(12), writer);
        BitConverter.TryWriteBytes(chunk.AsSpan(16), index);
        for (int i = Header; i < size; i++)
        {
            chunk[i] = (byte)((writer * 31) + (index * 7) + i);
        }

        return chunk;
    }
}
