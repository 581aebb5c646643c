using System.Buffers;

namespace FastPort.Protocol.Handlers;

/// <summary>
/// The memory of a body whose fields a handler may read until it has ended. One object per message, never reused: a kept field has its own
/// bytes or throws. If <see cref="End"/> is called while another thread reads, the span of that thread shows a buffer that is reused.
/// </summary>
internal sealed class BorrowedBytes(byte[] array, int offset, int length, string message) : MemoryManager<byte>
{
    // Null after the handler has ended.
    private byte[]? _array = array;

    /// <inheritdoc/>
    public override Memory<byte> Memory => CreateMemory(length);

    /// <summary>The handler has ended: the buffer is reused from now on.</summary>
    public void End() => _array = null;

    /// <inheritdoc/>
    /// <exception cref="ObjectDisposedException">The handler has ended.</exception>
    public override Span<byte> GetSpan()
    {
        byte[]? bytes = _array;
        return bytes is null ? throw Ended() : new Span<byte>(bytes, offset, length);
    }

    /// <inheritdoc/>
    /// <exception cref="NotSupportedException">Always: pinned memory could be used after the handler has ended.</exception>
    public override MemoryHandle Pin(int elementIndex = 0) => throw new NotSupportedException(
        $"A borrowed bytes field of a {message} message cannot be pinned; copy it with ByteString.CopyFrom(field.Span), or register the "
        + $"handler with BytesFields.Copied.");

    /// <inheritdoc/>
    public override void Unpin()
    {
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing) => End();

    private ObjectDisposedException Ended() => new(
        message,
        $"A bytes field of a {message} message was read after its handler had ended. Copy the field to keep it, with "
        + $"ByteString.CopyFrom(field.Span), or register the handler with BytesFields.Copied.");
}
