using System.Buffers;

namespace FastPort.Protocol.Handlers;

/// <summary>
/// A body whose fields a handler may read until it has ended. One object per message, never used again: a field that was kept shows its own
/// bytes or throws. <see cref="End"/> may be called while another thread reads; the span that thread holds then shows a buffer that is used
/// again.
/// </summary>
internal sealed class BorrowedBytes(byte[] array, int offset, int length, string message) : MemoryManager<byte>
{
    // Null once the handler has ended.
    private byte[]? _array = array;

    /// <inheritdoc/>
    public override Memory<byte> Memory => CreateMemory(length);

    /// <summary>The handler has ended: the buffer is used again from now on.</summary>
    public void End() => _array = null;

    /// <inheritdoc/>
    /// <exception cref="ObjectDisposedException">The handler has ended.</exception>
    public override Span<byte> GetSpan()
    {
        byte[]? bytes = _array;
        return bytes is null ? throw Ended() : new Span<byte>(bytes, offset, length);
    }

    /// <inheritdoc/>
    /// <exception cref="NotSupportedException">Always: pinned memory is used for longer than a handler can be asked to last.</exception>
    public override MemoryHandle Pin(int elementIndex = 0) => throw new NotSupportedException(
        $"A lent bytes field of a {message} message cannot be pinned; copy it with ByteString.CopyFrom(field.Span), or register the "
        + $"handler with BytesFields.Copied.");

    /// <inheritdoc/>
    public override void Unpin()
    {
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing) => End();

    private ObjectDisposedException Ended() => new(
        message,
        $"A bytes field of a {message} message was read after the handler it was lent to had ended. Copy what is kept, with "
        + $"ByteString.CopyFrom(field.Span), or register the handler with BytesFields.Copied.");
}
