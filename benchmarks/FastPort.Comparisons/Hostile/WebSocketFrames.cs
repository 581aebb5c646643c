using System.Buffers.Binary;
using System.IO.Compression;

namespace FastPort.Comparisons.Hostile;

/// <summary>Frames of WebSockets, right and wrong, masked with zeros.</summary>
internal static class WebSocketFrames
{
    public const int Continuation = 0;
    public const int Text = 1;
    public const int Binary = 2;
    public const int Close = 8;
    public const int Ping = 9;

    /// <summary>The last frame of a message.</summary>
    public const int Final = 0x80;

    /// <summary>A message that is compressed, where that was agreed.</summary>
    public const int Compressed = 0x40;

    private const int Masked = 0x80;
    private const int LargestShort = 125;

    /// <summary>A frame of less than 64 KiB.</summary>
    public static byte[] Frame(int opcode, int flags, byte[] payload)
    {
        byte[] length = payload.Length <= LargestShort
            ? [(byte)(Masked | payload.Length)]
            : [Masked | 126, (byte)(payload.Length >> 8), (byte)payload.Length];
        return [(byte)(flags | opcode), .. length, 0, 0, 0, 0, .. payload];
    }

    /// <summary>Bytes as a message, each in a fragment of its own.</summary>
    public static byte[] Fragments(byte[] bytes) =>
    [
        .. Frame(Binary, 0, []), .. bytes.SelectMany(static one => Frame(Continuation, 0, [one])), .. Frame(Continuation, Final, []),
    ];

    /// <summary>A Close with a code and a reason.</summary>
    public static byte[] CloseWith(ushort code, params byte[] reason)
    {
        byte[] bytes = new byte[sizeof(ushort)];
        BinaryPrimitives.WriteUInt16BigEndian(bytes, code);
        return Frame(Close, Final, [.. bytes, .. reason]);
    }

    /// <summary>A message that becomes a thousand times as large where it is decompressed.</summary>
    public static byte[] Bomb(int bytes)
    {
        using var small = new MemoryStream();
        using (var deflate = new DeflateStream(small, CompressionLevel.SmallestSize, leaveOpen: true))
        {
            deflate.Write(new byte[bytes]);
        }

        return Frame(Binary, Final | Compressed, small.ToArray());
    }

    /// <summary>Reads a server's frames up to its Close.</summary>
    /// <returns>The code.</returns>
    /// <exception cref="IOException">The connection has ended without one.</exception>
    public static async Task<int> CloseCodeAsync(HostilePeer peer, CancellationToken ending)
    {
        byte[] header = new byte[4];
        byte[] payload = new byte[ushort.MaxValue];
        while (true)
        {
            await peer.ReadExactlyAsync(header.AsMemory(0, 2), ending);
            int length = header[1];
            if (length > LargestShort)
            {
                await peer.ReadExactlyAsync(header.AsMemory(2), ending);
                length = BinaryPrimitives.ReadUInt16BigEndian(header.AsSpan(2));
            }

            await peer.ReadExactlyAsync(payload.AsMemory(0, length), ending);
            if (header[0] == (Final | Close))
            {
                return BinaryPrimitives.ReadUInt16BigEndian(payload);
            }
        }
    }
}
