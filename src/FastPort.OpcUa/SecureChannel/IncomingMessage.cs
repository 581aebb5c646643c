using System.Buffers;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>Joins the chunks of a message. Chunks of two messages never mix (OPC 10000-6, 6.7.2). Not thread-safe.</summary>
internal sealed class IncomingMessage(ArrayPool<byte> pool) : IDisposable
{
    private MessageBuffer _parts = new(pool);
    private uint _requestId;
    private int _chunks;

    /// <summary>The largest message that the peer may send, in bytes.</summary>
    public int MaxBytes { get; set; } = int.MaxValue;

    /// <summary>The most chunks of a message that the peer may send.</summary>
    public int MaxChunks { get; set; } = int.MaxValue;

    /// <summary>Whether no chunk waits for others.</summary>
    public bool IsEmpty => _chunks == 0;

    /// <summary>Why a chunk of this request must not come now; null if it may.</summary>
    public ChannelFault? CheckRequest(uint requestId) => _chunks == 0 || requestId == _requestId
        ? null
        : new ChannelFault(
            StatusCodes.BadTcpMessageTypeInvalid, $"A chunk of request {requestId} stands between chunks of request {_requestId}.");

    /// <summary>Why a message of so many more bytes is too large; null if it is not.</summary>
    public ChannelFault? CheckSize(int more) => _parts.Length + (long)more <= MaxBytes
        ? null
        : new ChannelFault(StatusCodes.BadTcpMessageTooLarge, $"A message is larger than the {MaxBytes} bytes that are accepted.");

    /// <summary>Adds a chunk's body. Returns why the channel must end; null to go on.</summary>
    public ChannelFault? Add(uint requestId, ReadOnlySpan<byte> body)
    {
        if (CheckSize(body.Length) is { } fault)
        {
            return fault;
        }

        if (_chunks >= MaxChunks)
        {
            return new ChannelFault(
                StatusCodes.BadTcpMessageTooLarge, $"A message has more than the {MaxChunks} chunks that are accepted.");
        }

        _requestId = requestId;
        _chunks++;
        _parts.Write(body);
        return null;
    }

    /// <summary>The whole message, owned by the caller from now on.</summary>
    public MessageBuffer Take()
    {
        MessageBuffer message = _parts;
        _parts = new MessageBuffer(pool);
        _chunks = 0;
        return message;
    }

    /// <summary>Drops the chunks.</summary>
    public void Clear()
    {
        _chunks = 0;
        _parts.Dispose();
    }

    public void Dispose() => _parts.Dispose();
}
