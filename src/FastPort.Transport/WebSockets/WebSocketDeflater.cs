using System.Buffers;
using System.Diagnostics;
using System.IO.Compression;
using FastPort.Connections;

namespace FastPort.WebSockets;

/// <summary>
/// Compresses the messages that one side sends (RFC 7692, 7.2.1), each a frame. Owned by the sender. It is also the stream to which the
/// runtime's deflater writes.
/// </summary>
/// <param name="pool">The pool of the frames' arrays. The deflater's memory counts with them.</param>
/// <param name="resets">Whether each message is to be compressed without the ones before it.</param>
internal sealed class WebSocketDeflater(ArrayPool<byte> pool, bool resets) : UnseekableStream
{
    /// <summary>Shorter messages are sent as they are: the headers of their packet outweigh what compression would save.</summary>
    public const int LeastBytes = 128;

    /// <summary>What a deflater holds, in bytes: measured (docs/decisions/0063-websockets.md).</summary>
    public const int MemoryBytes = 324 * 1024;

    private readonly BudgetedPool? _memory = pool as BudgetedPool;
    private DeflateStream? _deflate;

    // The output: an array of the pool. Null between two messages: what the deflater writes when it is disposed is dropped.
    private byte[]? _frame;
    private int _end;

    public override bool CanRead => false;

    public override bool CanWrite => true;

    /// <summary>Compresses a message; false if it is short, or if there is no memory: then it is sent as it is.</summary>
    /// <param name="first">The message's beginning.</param>
    /// <param name="second">The rest of it.</param>
    /// <param name="start">How many bytes of the array to leave before the compressed message.</param>
    /// <param name="frame">An array of the pool.</param>
    /// <param name="end">Where the message ends in it.</param>
    public bool TryCompress(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, int start, out byte[] frame, out int end)
    {
        (frame, end) = ([], 0);
        if (first.Length + second.Length < LeastBytes || !TryCreate())
        {
            return false;
        }

        _frame = pool.Rent(start + ((first.Length + second.Length) / 2));
        _end = start;
        _deflate!.Write(first);
        _deflate.Write(second);
        _deflate.Flush();
        (frame, end) = (_frame, _end - WebSocketCompression.FlushEnd.Length);
        _frame = null;
        Debug.Assert(
            frame.AsSpan(end, WebSocketCompression.FlushEnd.Length).SequenceEqual(WebSocketCompression.FlushEnd),
            "The deflater's flush ends as zlib's does.");
        if (resets)
        {
            Release();
        }

        return true;
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        if (_frame is null)
        {
            return;
        }

        if (_frame.Length - _end < buffer.Length)
        {
            byte[] larger = pool.Rent((_frame.Length * 2) + buffer.Length);
            _frame.AsSpan(0, _end).CopyTo(larger);
            pool.Return(_frame);
            _frame = larger;
        }

        buffer.CopyTo(_frame.AsSpan(_end));
        _end += buffer.Length;
    }

    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        Release();
        base.Dispose(disposing);
    }

    private bool TryCreate()
    {
        if (_deflate is not null)
        {
            return true;
        }

        if (_memory?.HasRoom(MemoryBytes) == false)
        {
            return false;
        }

        // Other levels take three times as long and more. The sender is often the event loop.
        _deflate = new DeflateStream(this, CompressionLevel.Fastest, leaveOpen: true);
        _memory?.Add(MemoryBytes);
        return true;
    }

    // The next message begins without the ones before it.
    private void Release()
    {
        if (_deflate is { } deflate)
        {
            _deflate = null;
            deflate.Dispose();
            _memory?.Remove(MemoryBytes);
        }
    }
}
