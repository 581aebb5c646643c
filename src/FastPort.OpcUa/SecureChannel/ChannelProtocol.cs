using System.Buffers;
using System.Buffers.Binary;
using FastPort.Buffers;
using FastPort.Connections;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// One end of a secure channel on a connection (OPC 10000-6, 6.7 and 7.1): reads chunks, checks and joins them, and hands whole messages to
/// the client's or the server's side. All members that read belong to the connection's loop; <see cref="Writer"/> may be used from any
/// thread.
/// </summary>
internal abstract class ChannelProtocol(EncodingLimits limits, ArrayPool<byte> pool) : IConnectionProtocol
{
    /// <summary>Type and size.</summary>
    protected const int HeaderBytes = 8;

    /// <summary>Type, size, channel and token.</summary>
    protected const int SymmetricHeaderBytes = 16;

    // A message's array of more bytes is not kept for the next one.
    private const int KeepBytes = 64 * 1024;

    private readonly MessageBuffer _plain = new(pool);
    private MessageBuffer _partial = new(pool);
    private SequenceNumbers _numbers;
    private uint _partialRequest;
    private int _partialChunks;
    private Connection? _connection;

    /// <summary>What decoders accept.</summary>
    protected EncodingLimits Limits => limits;

    /// <summary>Where arrays come from.</summary>
    protected ArrayPool<byte> Pool => pool;

    /// <summary>The connection; set when it opens.</summary>
    protected Connection Connection => _connection!;

    /// <summary>The sending half; set when the connection opens.</summary>
    protected ChunkWriter Writer { get; private set; } = null!;

    /// <summary>The largest chunk that the peer may send.</summary>
    protected int MaxChunkBytes { get; set; } = ChannelLimits.MinChunkBytes;

    /// <summary>The largest message that the peer may send, in bytes.</summary>
    protected int MaxMessageBytes { get; set; } = int.MaxValue;

    /// <summary>The most chunks of a message that the peer may send.</summary>
    protected int MaxChunks { get; set; } = int.MaxValue;

    /// <summary>Bytes that may wait to be sent before reading pauses.</summary>
    protected int PauseAtPendingBytes { get; init; } = 1024 * 1024;

    public void OnOpened(Connection connection)
    {
        _connection = connection;
        Writer = new ChunkWriter(connection);
        OnOpened();
    }

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        Span<byte> header = stackalloc byte[HeaderBytes];
        while (!Connection.IsClosing)
        {
            if (Connection.PendingBytes > PauseAtPendingBytes)
            {
                // The peer does not read what it asked for.
                Connection.NotifyWhenDrained(PauseAtPendingBytes / 2);
                return ReceiveOutcome.Pause;
            }

            if (input.Length < HeaderBytes)
            {
                return ReceiveOutcome.Continue;
            }

            input.CopyTo(0, header);
            uint type = BinaryPrimitives.ReadUInt32LittleEndian(header);
            uint size = BinaryPrimitives.ReadUInt32LittleEndian(header[sizeof(uint)..]);
            if (CheckHeader(type, size) is { } fault)
            {
                Fail(fault);
                break;
            }

            if (input.Length < size)
            {
                // The limit of a chunk is below what a connection may hold.
                input.TryReserve((int)size - input.Length);
                return ReceiveOutcome.Continue;
            }

            input.TryGetContiguous((int)size, out ReadOnlySpan<byte> chunk);
            fault = Handle(type, chunk);
            input.Consume((int)size);
            if (fault is not null)
            {
                Fail(fault);
                break;
            }
        }

        return ReceiveOutcome.Continue;
    }

    public void OnOutputDrained() => Connection.ResumeReading();

    public virtual void OnInputEnded(bool truncated) =>
        Connection.Close(truncated ? CloseReason.PeerTruncated : CloseReason.PeerClosed);

    public abstract long OnTick(long nowMilliseconds);

    public virtual void OnClosed(CloseReason reason)
    {
        _plain.Dispose();
        _partial.Dispose();
    }

    /// <summary>The connection is open.</summary>
    protected abstract void OnOpened();

    /// <summary>A message before the channel: Hello, Acknowledge or Error.</summary>
    /// <param name="type">The message's type.</param>
    /// <param name="body">The body.</param>
    /// <returns>Why the channel must end; null to go on.</returns>
    protected abstract ChannelFault? OnTransportMessage(uint type, ReadOnlySpan<byte> body);

    /// <summary>An OpenSecureChannel message.</summary>
    /// <param name="chunk">The whole chunk.</param>
    /// <returns>Why the channel must end; null to go on.</returns>
    protected abstract ChannelFault? OnOpen(ReadOnlySpan<byte> chunk);

    /// <summary>The protection of chunks with this token; null if there is none.</summary>
    /// <param name="channelId">From the chunk.</param>
    /// <param name="tokenId">From the chunk.</param>
    /// <param name="fault">Why there is none.</param>
    protected abstract ChunkSecurity? FindToken(uint channelId, uint tokenId, out ChannelFault? fault);

    /// <summary>A chunk with this token was verified.</summary>
    protected virtual void OnTokenUsed(uint tokenId)
    {
    }

    /// <summary>A message has arrived.</summary>
    /// <param name="requestId">The request.</param>
    /// <param name="message">The message, valid during the call.</param>
    /// <param name="owner">
    /// The buffer of a message of several chunks; set it to null to keep it, and dispose it later. Null for a message that was not copied.
    /// </param>
    /// <returns>Why the channel must end; null to go on.</returns>
    protected abstract ChannelFault? OnMessage(uint requestId, ReadOnlySpan<byte> message, ref MessageBuffer? owner);

    /// <summary>The peer has given up a message.</summary>
    protected virtual void OnAborted(uint requestId, StatusCode status, string? reason)
    {
    }

    /// <summary>The peer has closed the channel.</summary>
    protected virtual ChannelFault? OnClose()
    {
        Connection.Close(CloseReason.PeerClosed);
        return null;
    }

    /// <summary>Ends the channel. A server tells its client why.</summary>
    protected abstract void Fail(ChannelFault fault);

    /// <summary>Checks the number of a chunk that was verified.</summary>
    protected ChannelFault? CheckSequence(uint number) =>
        _numbers.TryAccept(number)
            ? null
            : new ChannelFault(StatusCodes.BadSecurityChecksFailed, $"The sequence number {number} is not the next one.");

    private ChannelFault? CheckHeader(uint type, uint size)
    {
        bool isKnown = type is MessageType.Message or MessageType.MessagePart or MessageType.MessageAbort or MessageType.Open
            or MessageType.Close or MessageType.Hello or MessageType.Acknowledge or MessageType.Error;
        if (!isKnown)
        {
            return new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, $"The message type 0x{type:X8} is unknown.");
        }

        if (size > MaxChunkBytes)
        {
            return new ChannelFault(
                StatusCodes.BadTcpMessageTooLarge, $"A chunk of {size} bytes is larger than the agreed {MaxChunkBytes} bytes.");
        }

        return size >= HeaderBytes
            ? null
            : new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, $"A chunk cannot have {size} bytes.");
    }

    private ChannelFault? Handle(uint type, ReadOnlySpan<byte> chunk)
    {
        switch (type)
        {
            case MessageType.Hello or MessageType.Acknowledge or MessageType.Error:
                return OnTransportMessage(type, chunk[HeaderBytes..]);
            case MessageType.Open:
                return OnOpen(chunk);
        }

        if (chunk.Length < SymmetricHeaderBytes)
        {
            return new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, $"A chunk cannot have {chunk.Length} bytes.");
        }

        uint channelId = BinaryPrimitives.ReadUInt32LittleEndian(chunk[8..]);
        uint tokenId = BinaryPrimitives.ReadUInt32LittleEndian(chunk[12..]);
        if (FindToken(channelId, tokenId, out ChannelFault? fault) is not { } security)
        {
            return fault;
        }

        _plain.Clear(KeepBytes);
        if (!security.TryUnprotect(chunk, SymmetricHeaderBytes, _plain, out ReadOnlySpan<byte> content))
        {
            return new ChannelFault(StatusCodes.BadSecurityChecksFailed, "The signature or the padding of a chunk is not valid.");
        }

        OnTokenUsed(tokenId);
        uint number = BinaryPrimitives.ReadUInt32LittleEndian(content);
        uint requestId = BinaryPrimitives.ReadUInt32LittleEndian(content[sizeof(uint)..]);
        return CheckSequence(number) ?? HandleContent(type, requestId, content[ChunkSecurity.SequenceHeaderBytes..]);
    }

    private ChannelFault? HandleContent(uint type, uint requestId, ReadOnlySpan<byte> body)
    {
        if (_partialChunks != 0 && requestId != _partialRequest && type != MessageType.Close)
        {
            return new ChannelFault(
                StatusCodes.BadTcpMessageTypeInvalid,
                $"A chunk of request {requestId} stands between chunks of request {_partialRequest}.");
        }

        switch (type)
        {
            case MessageType.MessagePart:
                _partialRequest = requestId;
                return AddPart(body);
            case MessageType.MessageAbort:
                EndPartial();
                var decoder = new BinaryDecoder(body, limits);
                ErrorMessage error = decoder.ReadStructure<ErrorMessage>();
                OnAborted(requestId, error.Error, error.Reason);
                return null;
            case MessageType.Close:
                return OnClose();
            default:
                return Complete(requestId, body);
        }
    }

    private ChannelFault? Complete(uint requestId, ReadOnlySpan<byte> body)
    {
        MessageBuffer? owner = null;
        if (_partialChunks == 0)
        {
            return OnMessage(requestId, body, ref owner);
        }

        if (AddPart(body) is { } fault)
        {
            return fault;
        }

        owner = _partial;
        fault = OnMessage(requestId, owner.Written, ref owner);
        _partialChunks = 0;
        if (owner is null)
        {
            _partial = new MessageBuffer(pool);
        }
        else
        {
            EndPartial();
        }

        return fault;
    }

    private ChannelFault? AddPart(ReadOnlySpan<byte> body)
    {
        if (_partial.Length + (long)body.Length > MaxMessageBytes)
        {
            EndPartial();
            return new ChannelFault(
                StatusCodes.BadTcpMessageTooLarge, $"A message is larger than the {MaxMessageBytes} bytes that are accepted.");
        }

        if (++_partialChunks > MaxChunks)
        {
            EndPartial();
            return new ChannelFault(
                StatusCodes.BadTcpMessageTooLarge, $"A message has more than the {MaxChunks} chunks that are accepted.");
        }

        _partial.Write(body);
        return null;
    }

    private void EndPartial()
    {
        _partialChunks = 0;
        _partial.Clear(keepBytes: 0);
    }
}
