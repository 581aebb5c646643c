using System.Buffers;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>Joins the chunks of a message. Chunks of two messages never mix (OPC 10000-6, 6.7.2). Not thread-safe.</summary>
internal sealed class IncomingMessage(ArrayPool<byte> pool) : IDisposable
{
    private MessageBuffer _parts = new(pool);
    private uint _requestId;
    private int _chunks;

    // Of the message that is being received, and of the next one.
    private (int Bytes, int Chunks) _most = (int.MaxValue, int.MaxValue);
    private (int Bytes, int Chunks) _mostNext = (int.MaxValue, int.MaxValue);

    /// <summary>Whether no chunk waits for others.</summary>
    public bool IsEmpty => _chunks == 0;

    /// <summary>
    /// Sets the largest message that the peer may send, and its most chunks. A message that has begun keeps the earlier limit.
    /// </summary>
    public void SetLimits(int bytes, int chunks = int.MaxValue)
    {
        _mostNext = (bytes, chunks);
        _most = IsEmpty ? _mostNext : (Math.Max(_most.Bytes, bytes), Math.Max(_most.Chunks, chunks));
    }

    /// <summary>Why a chunk of this request must not come now; null if it may.</summary>
    public ChannelFault? CheckRequest(uint requestId) => _chunks == 0 || requestId == _requestId
        ? null
        : new ChannelFault(
            StatusCodes.BadTcpMessageTypeInvalid, $"A chunk of request {requestId} stands between chunks of request {_requestId}.");

    /// <summary>Why a message with this many more bytes is too large; null if it is not.</summary>
    public ChannelFault? CheckSize(int more) => _parts.Length + (long)more <= _most.Bytes
        ? null
        : new ChannelFault(StatusCodes.BadTcpMessageTooLarge, $"A message is larger than the {_most.Bytes} bytes that are accepted.");

    /// <summary>Adds a chunk's body. Returns why the channel must end; null to continue.</summary>
    public ChannelFault? Add(uint requestId, ReadOnlySpan<byte> body)
    {
        if (CheckSize(body.Length) is { } fault)
        {
            return fault;
        }

        if (_chunks >= _most.Chunks)
        {
            return new ChannelFault(
                StatusCodes.BadTcpMessageTooLarge, $"A message has more than the {_most.Chunks} chunks that are accepted.");
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
        _most = _mostNext;
        return message;
    }

    /// <summary>Drops the chunks.</summary>
    public void Clear()
    {
        _chunks = 0;
        _most = _mostNext;
        _parts.Dispose();
    }

    public void Dispose() => _parts.Dispose();
}
