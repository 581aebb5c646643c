using FastPort.Buffers;

namespace FastPort.Framing;

/// <summary>
/// A body that knows its size before it is written, so that header, timing block and body are encoded in place in one contiguous span,
/// without a length to patch and without a copy. Implement it as a struct; FastPort uses it through generics and never boxes it.
/// </summary>
public interface IFrameBody
{
    /// <summary>Bytes that <see cref="Write"/> writes. Read once per frame.</summary>
    int Size { get; }

    /// <summary>Writes the body.</summary>
    /// <param name="destination">Exactly <see cref="Size"/> bytes.</param>
    void Write(Span<byte> destination);
}

/// <summary>
/// A body of raw bytes, which are copied. A custom body can write its large parts with it: it copies in pieces, which is faster on some
/// processors.
/// </summary>
/// <param name="bytes">The body.</param>
public readonly ref struct RawBody(ReadOnlySpan<byte> bytes) : IFrameBody
{
    private readonly ReadOnlySpan<byte> _bytes = bytes;

    /// <inheritdoc/>
    public int Size => _bytes.Length;

    /// <inheritdoc/>
    public void Write(Span<byte> destination) => LargeCopy.Copy(_bytes, destination);
}

/// <summary>A body of raw bytes in one or more segments, which are copied.</summary>
/// <param name="bytes">The body; read while the frame is encoded, not kept afterwards.</param>
public readonly struct SequenceBody(System.Buffers.ReadOnlySequence<byte> bytes) : IFrameBody
{
    /// <inheritdoc/>
    public int Size => checked((int)bytes.Length);

    /// <inheritdoc/>
    public void Write(Span<byte> destination)
    {
        foreach (ReadOnlyMemory<byte> segment in bytes)
        {
            LargeCopy.Copy(segment.Span, destination);
            destination = destination[segment.Length..];
        }
    }
}

/// <summary>An empty body.</summary>
public readonly struct EmptyBody : IFrameBody
{
    /// <inheritdoc/>
    public int Size => 0;

    /// <inheritdoc/>
    public void Write(Span<byte> destination)
    {
    }
}
