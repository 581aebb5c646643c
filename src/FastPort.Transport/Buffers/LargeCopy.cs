using System.Runtime.CompilerServices;

namespace FastPort.Buffers;

/// <summary>
/// Copies large blocks in pieces. Above a threshold the C library copies with <c>rep movsb</c>. On some processors this has little more
/// than half the throughput of the C library's loop for smaller blocks while source and destination are in the cache, as ring buffers are.
/// The figures are in docs/performance.md.
/// </summary>
internal static class LargeCopy
{
    /// <summary>
    /// Bytes of a piece. A multiple of the widest vector, and the largest size that glibc copies with its loop on x64 with 32-byte vectors;
    /// with 64-byte vectors that size is twice as large.
    /// </summary>
    public const int Piece = 4096;

    /// <summary>Copies the source to the start of the destination.</summary>
    /// <param name="source">May be empty. Must not overlap the destination.</param>
    /// <param name="destination">At least as long.</param>
    /// <exception cref="ArgumentException">The destination is shorter than the source; nothing was copied.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Copy(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        if (source.Length <= Piece)
        {
            source.CopyTo(destination);
        }
        else
        {
            CopyPieces(source, destination);
        }
    }

    // Not inlined, to keep the path of small copies short.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void CopyPieces(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        destination = destination[..source.Length];
        while (source.Length > Piece)
        {
            source[..Piece].CopyTo(destination);
            source = source[Piece..];
            destination = destination[Piece..];
        }

        source.CopyTo(destination);
    }
}
