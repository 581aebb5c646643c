using System.Runtime.CompilerServices;

namespace FastPort.Buffers;

/// <summary>
/// Copies large blocks in pieces. From a size of its own on the C library copies with <c>rep movsb</c>, which on some processors has little
/// more than half the rate of its loop for what is smaller, as long as source and destination are in the cache. Ring buffers are there; see
/// docs/performance.md for the figures.
/// </summary>
internal static class LargeCopy
{
    /// <summary>
    /// Bytes. A multiple of the widest vector, and the most that glibc copies with its loop on x64 with vectors of 32 bytes; with those of
    /// 64 it is twice that.
    /// </summary>
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
