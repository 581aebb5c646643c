using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.Transports.Epoll.Native;

/// <summary>
/// Sends bytes from many places with one call: borrowed frame bodies, and the headers between them in the ring.
/// </summary>
internal static class GatheredSend
{
    private const int MaxPieces = 128;

    // One per sending thread and reused, so that a send allocates nothing.
    [ThreadStatic]
    private static Scratch? _scratch;

    /// <summary>
    /// Sends the next bytes of the ring; called by the sender. False when the first piece is not in an array: only arrays can be pinned
    /// without calling their owner.
    /// </summary>
    /// <param name="descriptor">The socket.</param>
    /// <param name="ring">The ring; the sent bytes are not removed from it.</param>
    /// <param name="most">Bytes to send at most, 1 or more.</param>
    /// <param name="sent">Bytes, or -1 with the error of the call.</param>
    [SkipLocalsInit]
    public static unsafe bool TrySend(int descriptor, SendRing ring, long most, out nint sent)
    {
        Scratch scratch = _scratch ??= new Scratch();
        Span<ReadOnlyMemory<byte>> pieces = scratch.Pieces.AsSpan(0, ring.Gather(scratch.Pieces));
        Libc.Vector* vectors = stackalloc Libc.Vector[MaxPieces];
        int count = 0;
        foreach (ReadOnlyMemory<byte> whole in pieces)
        {
            ReadOnlyMemory<byte> piece = whole[..(int)Math.Min(whole.Length, most)];
            if (most == 0 || !MemoryMarshal.TryGetArray(piece, out _))
            {
                break;
            }

            most -= piece.Length;

            MemoryHandle pin = piece.Pin();
            scratch.Pins[count] = pin;
            vectors[count++] = new Libc.Vector { Base = pin.Pointer, Length = piece.Length };
        }

        sent = 0;
        if (count != 0)
        {
            var message = new Libc.MessageHeader { Vectors = vectors, VectorCount = count };
            sent = Libc.SendMessage(descriptor, &message, Libc.NoSignal | Libc.DontWait);
        }

        pieces.Clear();
        foreach (ref MemoryHandle pin in scratch.Pins.AsSpan(0, count))
        {
            pin.Dispose();
        }

        return count != 0;
    }

    private sealed class Scratch
    {
        public ReadOnlyMemory<byte>[] Pieces { get; } = new ReadOnlyMemory<byte>[MaxPieces];

        public MemoryHandle[] Pins { get; } = new MemoryHandle[MaxPieces];
    }
}
