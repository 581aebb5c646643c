using System.Buffers;
using FastPort.Connections;
using FastPort.Framing;

namespace FastPort.Sessions.Sending;

/// <summary>
/// A one-way frame that is encoded once for many sessions, in a rented array. A small frame is copied into each send queue. The body of a
/// large one is lent to all of them, and the array is returned when the last has sent it; until then it counts once, in the memory budget
/// of the first borrower. References are counted: one for the thread that encoded it, one for each loan. Any thread may release.
/// </summary>
internal sealed class SharedFrame
{
    private static readonly Action<object?> ReleaseLoan = static frame => ((SharedFrame)frame!).Release();

    private byte[] _array = [];
    private int _length;
    private int _references;
    private MemoryBudget? _memory;

    private SharedFrame()
    {
    }

    public ushort Type { get; private set; }

    /// <summary>Header and body, encoded.</summary>
    public ReadOnlySpan<byte> Bytes => _array.AsSpan(0, _length);

    public ReadOnlyMemory<byte> Body => _array.AsMemory(FrameHeader.Size, _length - FrameHeader.Size);

    // A released frame is kept for the thread's next one, so that encoding allocates nothing once warm.
    [field: ThreadStatic]
    private static SharedFrame? Spare { get; set; }

    /// <summary>Encodes a frame. The caller must release it once.</summary>
    /// <exception cref="ArgumentException">No configuration allows a frame of this size.</exception>
    public static SharedFrame Encode<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        int size = body.Size;
        if (!FrameWriter.Fits(size, FrameLimits.Maximum))
        {
            throw new ArgumentException(
                $"The body has {size} bytes; no frame holds more than {FrameLimits.MaxBodyBytes(FrameLimits.Maximum)}.", nameof(body));
        }

        SharedFrame frame = Spare ?? new SharedFrame();
        Spare = null;
        frame.Type = type;
        frame._length = FrameHeader.Size + size;
        frame._array = ArrayPool<byte>.Shared.Rent(frame._length);
        frame._references = 1;
        try
        {
            new FrameHeader((uint)(frame._length - FrameHeader.LengthFieldSize), type, FrameFlags.OneWay, FrameHeader.CurrentVersion, 0)
                .Write(frame._array);
            body.Write(frame._array.AsSpan(FrameHeader.Size, size));
            return frame;
        }
        catch
        {
            frame.Release();
            throw;
        }
    }

    /// <summary>Sends to each session without waiting for room. Returns the number of send queues that accepted it.</summary>
    /// <param name="sessions">The receivers.</param>
    /// <param name="solicited">Whether the peers asked for it. An unsolicited frame is sent only to peers that have said Hello.</param>
    public int SendTo(ReadOnlySpan<Session?> sessions, bool solicited)
    {
        int sent = 0;
        foreach (Session? session in sessions)
        {
            if (session is not null && SendTo(session, solicited))
            {
                sent++;
            }
        }

        return sent;
    }

    /// <inheritdoc cref="SendTo(ReadOnlySpan{Session}, bool)"/>
    /// <returns>Whether the session's send queue has accepted it.</returns>
    public bool SendTo(Session session, bool solicited)
    {
        FrameOutput output = session.Protocol.Output;
        if (!solicited && !output.CanSendUnsolicited)
        {
            return false;
        }

        if (Body.Length < FrameOutput.BorrowAtLeast)
        {
            return output.TryBroadcast(Bytes);
        }

        if (_memory is null)
        {
            _memory = session.Protocol.Settings.Memory;
            _memory.Take(_array.Length);
        }

        Interlocked.Increment(ref _references);
        bool lent = output.TryBroadcastBorrowed(Type, Body, ReleaseLoan, this);
        if (!lent)
        {
            Release();
        }

        return lent;
    }

    public void Release()
    {
        if (Interlocked.Decrement(ref _references) == 0)
        {
            _memory?.Give(_array.Length);
            _memory = null;
            ArrayPool<byte>.Shared.Return(_array);
            _array = [];
            Spare = this;
        }
    }
}
