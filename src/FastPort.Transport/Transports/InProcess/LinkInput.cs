using System.Buffers;
using System.Runtime.InteropServices;
using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <summary>
/// The bytes that a protocol is offered: the ring that was taken, as it is; or a piece of it together with the borrowed bytes that follow,
/// shown in place; or, if the protocol left bytes unread and waits for more, those bytes joined with the next ones in a ring of the
/// receiver. Only the last case copies. Belongs to the receiver's pump.
/// </summary>
internal sealed class LinkInput(LinkPipe pipe, ConnectionSettings settings, ArrayPool<byte> pool)
{
    private const int MinimumCapacity = 1024;

    private ArrayPoolCircularBuffer? _unread;
    private ArrayPoolCircularBuffer? _shown;

    // Whether a piece is shown, and how many of its bytes lie in the ring, before the borrowed ones.
    private bool _hasPiece;
    private int _ownBytes;

    /// <summary>Whether the protocol has left unread bytes that are not a whole message.</summary>
    public bool HasUnread => _unread is { IsEmpty: false };

    /// <summary>The bytes offered now.</summary>
    public ArrayPoolCircularBuffer Current { get; private set; } = pipe.Reading.Ring;

    /// <summary>Moves to the next bytes; false if there are none now. Called only after <see cref="Offered"/>.</summary>
    /// <exception cref="RingCapacityExceededException">
    /// The protocol left as many bytes unread as a receive ring may hold, and needs more.
    /// </exception>
    public bool TryAdvance()
    {
        SendRing reading = pipe.Reading;
        if (reading.IsEmpty)
        {
            if (!pipe.TryTake())
            {
                return false;
            }

            reading = pipe.Reading;
        }

        if (HasUnread || !TryShow(reading))
        {
            Join(reading);
        }
        else
        {
            // The reservation was for bytes that have arrived in their own ring.
            _unread?.TryReleaseWhenEmpty();
        }

        return true;
    }

    /// <summary>
    /// Called before the protocol is offered <see cref="Current"/>: room that it reserves is then in the ring that will hold its unread
    /// bytes.
    /// </summary>
    public void Offering()
    {
        if (!ReferenceEquals(Current, _unread))
        {
            Current.ReserveIn(_unread ??= NewUnread());
        }
    }

    /// <summary>The protocol was offered <see cref="Current"/>.</summary>
    /// <param name="paused">Whether the protocol will be offered the same bytes again; otherwise it waits for more.</param>
    public void Offered(bool paused)
    {
        Current.ReserveIn(null);
        if (!paused && !Current.IsEmpty && !ReferenceEquals(Current, _unread))
        {
            Keep(Current);
        }

        if (_hasPiece && Current.IsEmpty)
        {
            EndPiece();
        }
    }

    /// <summary>Drops all taken bytes.</summary>
    public void Drop()
    {
        if (_hasPiece)
        {
            EndPiece();
        }

        _unread?.Consume(_unread.Length);
        SendRing reading = pipe.Reading;
        while (!reading.IsEmpty)
        {
            reading.TakeSent(reading.NextMemory.Length, pipe);
        }
    }

    /// <summary>Releases what is not needed, before the pump waits.</summary>
    public void ReleaseWhenIdle()
    {
        _unread?.ReleaseWhenIdle();
        pipe.ReleaseWhenReceiverIdle();
    }

    /// <summary>Releases all buffers at the end. The pipe returns the taken segments.</summary>
    public void Dispose()
    {
        _shown?.Dispose();
        _unread?.Dispose();
    }

    // False if the borrowed memory is not an array and has to be copied.
    private bool TryShow(SendRing reading)
    {
        if (!reading.TryPeek(out ReadOnlyMemory<byte> own, out ReadOnlyMemory<byte> borrowed))
        {
            Current = reading.Ring;
            return true;
        }

        ReadOnlyMemory<byte> first = own.IsEmpty ? borrowed : own;
        if (!MemoryMarshal.TryGetArray(borrowed, out _) || !MemoryMarshal.TryGetArray(first, out ArraySegment<byte> array))
        {
            return false;
        }

        _shown ??= new ArrayPoolCircularBuffer(
            MinimumCapacity, Math.Max(settings.MaxReceiveBytes, reading.Ring.MaximumCapacity), pool);
        _shown.Show(array, own.IsEmpty ? default : borrowed);
        _hasPiece = true;
        _ownBytes = own.Length;
        Current = _shown;
        return true;
    }

    private void EndPiece()
    {
        _hasPiece = false;
        _shown!.StopShowing();

        // Not empty if the protocol asked for room after the bytes: then they were copied into the ring.
        _shown.Consume(_shown.Length);
        _shown.TryReleaseWhenEmpty();
        SendRing reading = pipe.Reading;
        reading.Ring.Consume(_ownBytes);
        reading.TakeSent(reading.NextMemory.Length, pipe);
    }

    private void Keep(ArrayPoolCircularBuffer unread)
    {
        ArrayPoolCircularBuffer ring = _unread ??= NewUnread();
        unread.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
        ring.Write(first);
        ring.Write(second);
        unread.Consume(unread.Length);
    }

    private void Join(SendRing reading)
    {
        ArrayPoolCircularBuffer ring = _unread ??= NewUnread();
        ReadOnlyMemory<byte> next = reading.NextMemory;

        // At least 1 byte, so that a full ring throws when it needs more.
        next = next[..Math.Min(next.Length, Math.Max(ring.MaximumCapacity - ring.Length, 1))];
        ring.Write(next.Span);
        reading.TakeSent(next.Length, pipe);
        Current = ring;
    }

    private ArrayPoolCircularBuffer NewUnread() => new(MinimumCapacity, settings.MaxReceiveBytes, pool);
}
