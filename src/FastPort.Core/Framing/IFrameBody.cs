using FastPort.Buffers;

namespace FastPort.Framing;

/// <summary>
/// A body that knows its size before it is written, so that a frame is encoded in place in one contiguous span: header, timing block and
/// body, without a length to patch and without a copy. Implement it as a struct; it is used through generics and never boxed.
/// </summary>
public interface IFrameBody
{
    /// <summary>Bytes that <see cref="Write"/> will write. Asked once per frame.</summary>
    int Size { get; }

    /// <summary>Writes the body.</summary>
    /// <param name="destination">Exactly <see cref="Size"/> bytes.</param>
    void Write(Span<byte> destination);
}

/// <summary>
/// A body of bytes that are copied as they are. Bodies of one's own may write their large parts with it: on processors where that is faster
/// it copies in pieces.
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

/// <summary>A body of bytes that lie in one or more segments, copied as they are.</summary>
/// <param name="bytes">The body; read while the frame is encoded, not kept.</param>
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

/// <summary>A body of no bytes.</summary>
public readonly struct EmptyBody : IFrameBody
{
    /// <inheritdoc/>
    public int Size => 0;

    /// <inheritdoc/>
    public void Write(Span<byte> destination)
    {
    }
}
