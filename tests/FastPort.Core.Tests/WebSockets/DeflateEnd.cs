using System.IO.Compression;

namespace FastPort.Core.Tests.WebSockets;

/// <summary>The peer's end of permessage-deflate, with the runtime's library: each message after the ones before it.</summary>
internal sealed class DeflateEnd : IDisposable
{
    private static readonly byte[] FlushEnd = [0, 0, 0xFF, 0xFF];

    private readonly MemoryStream _compressed = new();
    private readonly MemoryStream _received = new();
    private readonly DeflateStream _deflate;
    private readonly DeflateStream _inflate;

    public DeflateEnd()
    {
        _deflate = new DeflateStream(_compressed, CompressionLevel.Optimal, leaveOpen: true);
        _inflate = new DeflateStream(_received, CompressionMode.Decompress, leaveOpen: true);
    }

    /// <summary>The payload of a compressed message.</summary>
    public byte[] Deflate(ReadOnlySpan<byte> message)
    {
        _compressed.SetLength(0);
        _deflate.Write(message);
        _deflate.Flush();

        // The library flushes nothing where nothing was written.
        byte[] bytes = message.IsEmpty ? [0, .. FlushEnd] : _compressed.ToArray();
        return bytes[..^FlushEnd.Length];
    }

    /// <summary>The message of a compressed payload.</summary>
    public byte[] Inflate(byte[] payload)
    {
        _received.SetLength(0);
        _received.Write(payload);
        _received.Write(FlushEnd);
        _received.Position = 0;
        using var message = new MemoryStream();
        _inflate.CopyTo(message);
        return message.ToArray();
    }

    public void Dispose()
    {
        _deflate.Dispose();
        _inflate.Dispose();
        _compressed.Dispose();
        _received.Dispose();
    }
}
