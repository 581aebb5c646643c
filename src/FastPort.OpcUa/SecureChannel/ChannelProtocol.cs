using System.Buffers;
using System.Buffers.Binary;
using FastPort.Connections;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// One end of a secure channel on a connection (OPC 10000-6, 6.7 and 7.1): reads chunks, checks and joins them, and passes whole messages
/// to the client's or the server's side. All members that read belong to the connection's loop, or to the step of <see cref="RunAside"/>
/// that reading pauses for; <see cref="Writer"/> may be used from any thread.
/// </summary>
internal abstract partial class ChannelProtocol(EncodingLimits limits, TimeProvider time) : IConnectionProtocol
{
    /// <summary>Type and size.</summary>
    protected const int HeaderBytes = 8;

    /// <summary>Type, size, channel and token.</summary>
    protected const int SymmetricHeaderBytes = 16;

    // A larger array of a message is not kept for the next one.
    private const int KeepBytes = 64 * 1024;
    private const long NothingUnfinished = long.MinValue;

    // How long answers wait for others of their burst: a few times the duration of a system call.
    private static readonly TimeSpan AnswersWait = TimeSpan.FromMicroseconds(20);

    private MessageBuffer _plain = null!;
    private SequenceNumbers _numbers;
    private Connection? _connection;
    private long _unfinishedSince = NothingUnfinished;

    /// <summary>What decoders accept.</summary>
    protected EncodingLimits Limits => limits;

    /// <summary>Source of time.</summary>
    protected TimeProvider Time => time;

    /// <summary>The clock of tokens' lives.</summary>
    protected abstract TimeSpan TokenClock { get; }

    /// <summary>The pool of arrays; set when the connection opens.</summary>
    protected ArrayPool<byte> Pool => Connection.MessagePool;

    /// <summary>The connection; set when it opens.</summary>
    protected Connection Connection => _connection!;

    /// <summary>The sending half; set when the connection opens.</summary>
    protected ChunkWriter Writer { get; private set; } = null!;

    /// <summary>The message that is being received; set when the connection opens.</summary>
    protected IncomingMessage Incoming { get; private set; } = null!;

    /// <summary>The largest chunk that the peer may send.</summary>
    protected int MaxChunkBytes { get; set; } = ChannelLimits.MinChunkBytes;

    /// <summary>Bytes that may wait to be sent: <see cref="ConnectionSettings.MaxSendBytes"/>.</summary>
    protected abstract int MaxSendBytes { get; }

    /// <summary>Bytes that may wait to be sent before reading pauses.</summary>
    protected int PauseAtPendingBytes { get; init; } = 1024 * 1024;

    /// <summary>
    /// How long the rest of a message has been missing; null if no message is unfinished, or this side does not read. Any thread.
    /// </summary>
    public TimeSpan? UnfinishedFor =>
        Volatile.Read(ref _unfinishedSince) is var since and not NothingUnfinished ? time.GetElapsedTime(since) : null;

    public void OnOpened(Connection connection)
    {
        _connection = connection;
        _plain = new MessageBuffer(connection.MessagePool);
        Incoming = new IncomingMessage(connection.MessagePool);
        Writer = new ChunkWriter(connection, MaxSendBytes);
        OnOpened();
    }

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        ReceiveOutcome outcome = Receive(input);
        if (input.IsEmpty && Incoming.IsEmpty)
        {
            Volatile.Write(ref _unfinishedSince, NothingUnfinished);
        }
        else if (outcome == ReceiveOutcome.Continue && _unfinishedSince == NothingUnfinished)
        {
            Volatile.Write(ref _unfinishedSince, time.GetTimestamp());
        }

        return outcome;
    }

    public virtual void OnOutputDrained() => Connection.ResumeReading();

    public virtual void OnInputEnded(bool truncated) =>
        Connection.Close(truncated ? CloseReason.PeerTruncated : CloseReason.PeerClosed);

    public abstract long OnTick(long nowMilliseconds);

    public virtual void OnClosed(CloseReason reason)
    {
        TakeBackStep();
        Leave();
    }

    /// <summary>The connection is open.</summary>
    protected abstract void OnOpened();

    /// <summary>A message before the channel: Hello, Acknowledge or Error.</summary>
    /// <param name="type">The message's type.</param>
    /// <param name="body">The body.</param>
    /// <returns>Why the channel must end; null to continue.</returns>
    protected abstract ChannelFault? OnTransportMessage(uint type, ReadOnlySpan<byte> body);

    /// <summary>A message has arrived.</summary>
    /// <param name="requestId">The request.</param>
    /// <param name="message">The message, valid during the call.</param>
    /// <param name="owner">
    /// The buffer of a message of several chunks; set it to null to keep it, and dispose it later. Null for a message that was not copied.
    /// </param>
    /// <returns>Why the channel must end; null to continue.</returns>
    protected abstract ChannelFault? OnMessage(uint requestId, ReadOnlySpan<byte> message, ref MessageBuffer? owner);

    /// <summary>The peer has given up a message.</summary>
    protected virtual void OnAborted(uint requestId, StatusCode status, string? reason)
    {
    }

    /// <summary>Ends the channel. A server sends its client the reason.</summary>
    protected abstract void Fail(ChannelFault fault);

    private ReceiveOutcome Receive(ArrayPoolCircularBuffer input)
    {
        Span<byte> header = stackalloc byte[HeaderBytes];
        long begun = time.GetTimestamp();
        while (!Connection.IsClosing)
        {
            if (_isAside)
            {
                return ReceiveOutcome.Pause;
            }

            if (Connection.PendingBytes > PauseAtPendingBytes)
            {
                // The peer does not read its responses.
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

            if (!input.IsEmpty && time.GetElapsedTime(begun) >= AnswersWait)
            {
                // The peer works on these while the rest of the burst is decrypted and handled.
                Connection.FlushNow();
                begun = time.GetTimestamp();
            }
        }

        return ReceiveOutcome.Continue;
    }

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
                return ReceiveOpen(chunk);
        }

        if (chunk.Length < SymmetricHeaderBytes)
        {
            return new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, $"A chunk cannot have {chunk.Length} bytes.");
        }

        uint channelId = BinaryPrimitives.ReadUInt32LittleEndian(chunk[8..]);
        uint tokenId = BinaryPrimitives.ReadUInt32LittleEndian(chunk[12..]);
        if (FindToken(channelId, tokenId, out ChannelToken? token) is { } unknown)
        {
            return unknown;
        }

        _plain.Clear(KeepBytes);
        if (!token!.Security.TryUnprotect(chunk, SymmetricHeaderBytes, _plain, out ReadOnlySpan<byte> content))
        {
            return new ChannelFault(StatusCodes.BadSecurityChecksFailed, "The signature or the padding of a chunk is not valid.");
        }

        if (token != Tokens.Oldest)
        {
            BeginUse(token);
        }

        uint number = BinaryPrimitives.ReadUInt32LittleEndian(content);
        uint requestId = BinaryPrimitives.ReadUInt32LittleEndian(content[sizeof(uint)..]);
        return CheckSequence(number) ?? HandleContent(type, requestId, content[ChunkSecurity.SequenceHeaderBytes..]);
    }

    private ChannelFault? HandleContent(uint type, uint requestId, ReadOnlySpan<byte> body)
    {
        if (type == MessageType.Close)
        {
            Connection.Close(CloseReason.PeerClosed);
            return null;
        }

        if (Incoming.CheckRequest(requestId) is { } fault)
        {
            return fault;
        }

        switch (type)
        {
            case MessageType.MessagePart:
                return Incoming.Add(requestId, body);
            case MessageType.MessageAbort:
                Incoming.Clear();
                var decoder = new BinaryDecoder(body, limits);
                ErrorMessage error = decoder.ReadStructure<ErrorMessage>();
                OnAborted(requestId, error.Error, error.Reason);
                return null;
            default:
                return Complete(requestId, body);
        }
    }

    private ChannelFault? Complete(uint requestId, ReadOnlySpan<byte> body)
    {
        // The bytes after it are another message.
        _unfinishedSince = NothingUnfinished;
        MessageBuffer? owner = null;
        if (Incoming.IsEmpty)
        {
            return Incoming.CheckSize(body.Length) ?? OnMessage(requestId, body, ref owner);
        }

        if (Incoming.Add(requestId, body) is { } fault)
        {
            return fault;
        }

        owner = Incoming.Take();
        fault = OnMessage(requestId, owner.Written, ref owner);
        owner?.Dispose();
        return fault;
    }

    // Checks the number of a chunk that was verified.
    private ChannelFault? CheckSequence(uint number) =>
        _numbers.TryAccept(number)
            ? null
            : new ChannelFault(StatusCodes.BadSecurityChecksFailed, $"The sequence number {number} is not the next one.");
}
