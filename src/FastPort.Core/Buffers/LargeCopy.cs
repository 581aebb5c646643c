using System.Runtime.CompilerServices;

namespace FastPort.Buffers;

/// <summary>
/// Copies large blocks in pieces. From a size of its own on (on x64 with glibc 4 or 8 KiB) the C library copies with <c>rep movsb</c>, which on some processors has half the
/// rate of its loop for what is smaller, as long as source and destination are in the cache. Ring buffers are there; see docs/performance.md for the figures.
/// </summary>
internal static class LargeCopy
{
    /// <summary>Bytes; a multiple of all cache lines and of the widest vector, and small enough for the C library's loop everywhere.</summary>
    public const int Piece = 4096;

    /// <summary>Copies all of the source to the beginning of the destination.</summary>
    /// <param name="source">May be empty. Does not overlap the destination.</param>
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

    // Not into its caller, where small copies are made.
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
