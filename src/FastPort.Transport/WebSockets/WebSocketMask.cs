using System.Numerics;
using System.Runtime.InteropServices;

namespace FastPort.WebSockets;

/// <summary>Masks and unmasks payloads (RFC 6455, 5.3): the same operation.</summary>
internal static class WebSocketMask
{
    /// <summary>Copies bytes and masks them.</summary>
    /// <param name="source">The bytes.</param>
    /// <param name="destination">As many bytes or more; may be the source.</param>
    /// <param name="key">The masking key, as it lies in memory, for the first of the bytes.</param>
    /// <returns>The key for the byte after the last.</returns>
    public static uint Copy(ReadOnlySpan<byte> source, Span<byte> destination, uint key)
    {
        int done = 0;
        if (source.Length >= Vector<byte>.Count)
        {
            Vector<byte> keys = Vector.AsVectorByte(new Vector<uint>(key));
            for (; done <= source.Length - Vector<byte>.Count; done += Vector<byte>.Count)
            {
                (new Vector<byte>(source[done..]) ^ keys).CopyTo(destination[done..]);
            }
        }

        // A vector has a multiple of four bytes, so the key is not rotated until here.
        Span<uint> four = [key];
        ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(four);
        for (; done < source.Length; done++)
        {
            destination[done] = (byte)(source[done] ^ bytes[done & 3]);
        }

        int rotation = (source.Length & 3) * 8;
        return BitConverter.IsLittleEndian ? BitOperations.RotateRight(key, rotation) : BitOperations.RotateLeft(key, rotation);
    }
}
