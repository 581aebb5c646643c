using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.Tags;

/// <summary>The byte order of fixed-width values on the wire.</summary>
internal static class LittleEndian
{
    /// <summary>Changes values in memory to the order of the wire, or back; nothing on little-endian machines.</summary>
    public static void Reverse<T>(Span<byte> bytes)
        where T : unmanaged
    {
        if (BitConverter.IsLittleEndian || Unsafe.SizeOf<T>() == 1)
        {
            return;
        }

        if (Unsafe.SizeOf<T>() == sizeof(uint))
        {
            Span<uint> values = MemoryMarshal.Cast<byte, uint>(bytes);
            BinaryPrimitives.ReverseEndianness(values, values);
        }
        else
        {
            Span<ulong> values = MemoryMarshal.Cast<byte, ulong>(bytes);
            BinaryPrimitives.ReverseEndianness(values, values);
        }
    }
}
