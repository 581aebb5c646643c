using System.Buffers;
using FastPort.Connections;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>The server's end of a secure channel. Everything runs on the connection's loop.</summary>
internal sealed partial class ServerChannel : ChannelProtocol
{
    // A client that has not activated a session may not make the server collect more.
    private const int MaxHandshakeBytes = 64 * 1024;
    private const int MinMaxChunks = 16;
    private static readonly TimeSpan ShortestLifetime = TimeSpan.FromSeconds(10);

    private readonly CancellationTokenSource _ended = new();
    private readonly OpcUaServer _server;
    private bool _helloReceived;
    private long _openUntil = long.MaxValue;
    private uint _channelId;
    private uint _tokenId;
    private uint _previousTokenId;
    private bool _previousIsValid;
    private long _tokenCreated;
    private TimeSpan _tokenLifetime;

    public ServerChannel(OpcUaServer server)
        : base(
            new EncodingLimits(MaxByteStringBytes: server.Options.MaxMessageBytes, MaxStringBytes: server.Options.MaxMessageBytes),
            ArrayPool<byte>.Shared)
    {
        _server = server;
        MaxChunkBytes = server.Options.MaxChunkBytes;
        MaxMessageBytes = MaxHandshakeBytes;
    }

    /// <summary>About the largest response that both sides accept, in bytes.</summary>
    public int LargestResponse { get; private set; }

    /// <summary>Canceled when the connection has ended.</summary>
    public CancellationToken Ended => _ended.Token;

    public override long OnTick(long nowMilliseconds)
    {
        if (_openUntil == long.MaxValue && _channelId == 0)
        {
            _openUntil = nowMilliseconds + (long)_server.Options.HandshakeTimeout.TotalMilliseconds;
        }

        if (_channelId == 0)
        {
            if (nowMilliseconds < _openUntil)
            {
                return _openUntil;
            }

            Fail(new ChannelFault(
                StatusCodes.BadTimeout, $"No secure channel was opened within {_server.Options.HandshakeTimeout.TotalSeconds} s."));
            return ConnectionClock.Never;
        }

        // A quarter longer than agreed on (OPC 10000-6, 6.7.3).
        TimeSpan left = (1.25 * _tokenLifetime) - _server.Time.GetElapsedTime(_tokenCreated);
        if (left > TimeSpan.Zero)
        {
            return nowMilliseconds + (long)left.TotalMilliseconds + 1;
        }

        Fail(new ChannelFault(StatusCodes.BadSecureChannelTokenUnknown, "The secure channel's token has expired and was not renewed."));
        return ConnectionClock.Never;
    }

    public override void OnClosed(CloseReason reason)
    {
        foreach (ServerSession session in _sessions)
        {
            // A session cannot be taken over to another channel yet: nobody would ever see what its subscriptions collect.
            session.Subscriptions?.Close(tells: false);
            session.Subscriptions = null;
            session.Channel = null;
        }

        // Asynchronously: the loop must not run the methods' callbacks.
        _ = _ended.CancelAsync();

        base.OnClosed(reason);
    }

    protected override void OnOpened()
    {
    }

    protected override ChannelFault? OnTransportMessage(uint type, ReadOnlySpan<byte> body)
    {
        if (type != MessageType.Hello || _helloReceived)
        {
            return new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, "A Hello message is expected once, before all others.");
        }

        _helloReceived = true;
        var decoder = new BinaryDecoder(body, new EncodingLimits(MaxStringBytes: ChannelLimits.MaxTextBytes));
        HelloMessage hello = decoder.ReadStructure<HelloMessage>();
        if (!decoder.Error.IsGood)
        {
            return new ChannelFault(StatusCodes.BadTcpEndpointUrlInvalid, "The Hello message or its endpoint URL is not valid.");
        }

        int chunkBytes = ChannelLimits.AgreeOnChunkBytes(_server.Options.MaxChunkBytes, hello.ReceiveBufferSize, hello.SendBufferSize);
        if (chunkBytes < ChannelLimits.MinChunkBytes)
        {
            return new ChannelFault(
                StatusCodes.BadConnectionRejected, $"The buffers of {chunkBytes} bytes are smaller than {ChannelLimits.MinChunkBytes} bytes.");
        }

        MaxChunkBytes = chunkBytes;
        Writer.SetLimits(new ChannelLimits(
            chunkBytes, _server.Options.MaxMessageBytes, hello.MaxMessageSize, hello.MaxChunkCount));
        uint messageBytes = (uint)_server.Options.MaxMessageBytes;
        long chunks = hello.MaxChunkCount == 0 ? uint.MaxValue : hello.MaxChunkCount;
        LargestResponse = (int)Math.Min(
            Math.Min(messageBytes, hello.MaxMessageSize == 0 ? uint.MaxValue : hello.MaxMessageSize), chunks * chunkBytes);
        MaxChunks = Math.Max(MinMaxChunks, (_server.Options.MaxMessageBytes / (chunkBytes / 2)) + 1);
        var acknowledge = new AcknowledgeMessage
        {
            ReceiveBufferSize = (uint)chunkBytes,
            SendBufferSize = (uint)chunkBytes,
            MaxMessageSize = messageBytes,
            MaxChunkCount = (uint)MaxChunks,
        };
        SendTransportMessage(MessageType.Acknowledge, acknowledge);
        return null;
    }

    protected override ChannelFault? OnOpen(ReadOnlySpan<byte> chunk)
    {
        if (!_helloReceived)
        {
            return new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, "A Hello message is expected before a secure channel is opened.");
        }

        if (!AsymmetricHeader.TryRead(chunk, out AsymmetricHeader header, out int clearBytes))
        {
            return new ChannelFault(StatusCodes.BadSecurityChecksFailed, "The header of an OpenSecureChannel message is not valid.");
        }

        if (header.PolicyUri != SecurityPolicy.None.Uri)
        {
            return new ChannelFault(StatusCodes.BadSecurityPolicyRejected, $"The security policy '{header.PolicyUri}' is not offered.");
        }

        if (header.ChannelId != _channelId)
        {
            return new ChannelFault(StatusCodes.BadTcpSecureChannelUnknown, $"There is no secure channel {header.ChannelId} here.");
        }

        using var scratch = new MessageBuffer(Pool);
        if (!ChunkSecurity.None.TryUnprotect(chunk, clearBytes, scratch, out ReadOnlySpan<byte> content))
        {
            return new ChannelFault(StatusCodes.BadSecurityChecksFailed, "An OpenSecureChannel message is too short.");
        }

        var decoder = new BinaryDecoder(content, Limits);
        if (CheckSequence(decoder.Read<uint>()) is { } fault)
        {
            return fault;
        }

        uint requestId = decoder.Read<uint>();
        NodeId type = decoder.ReadNodeId();
        RequestHeader requestHeader = decoder.ReadStructure<RequestHeader>();
        OpenSecureChannelRequest request = decoder.ReadStructure<OpenSecureChannelRequest>();
        if (!decoder.Error.IsGood || type != new NodeId(0, OpenSecureChannelRequest.EncodingId))
        {
            return new ChannelFault(StatusCodes.BadDecodingError, "The body of an OpenSecureChannel message is not valid.");
        }

        bool renews = request.RequestType == SecurityTokenRequestType.Renew;
        if (renews != (_channelId != 0))
        {
            return new ChannelFault(
                StatusCodes.BadRequestTypeInvalid, renews ? "There is no secure channel to renew." : "The secure channel is open.");
        }

        if (request.SecurityMode != MessageSecurityMode.None)
        {
            return new ChannelFault(
                StatusCodes.BadSecurityModeRejected, $"The security mode {request.SecurityMode} does not go with policy None.");
        }

        Issue(header.PolicyUri, requestId, requestHeader.RequestHandle, request.RequestedLifetime);
        return null;
    }

    protected override ChunkSecurity? FindToken(uint channelId, uint tokenId, out ChannelFault? fault)
    {
        if (_channelId == 0)
        {
            fault = new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, "A message came before the secure channel was opened.");
            return null;
        }

        if (channelId != _channelId)
        {
            fault = new ChannelFault(StatusCodes.BadTcpSecureChannelUnknown, $"There is no secure channel {channelId} here.");
            return null;
        }

        if (tokenId == _tokenId)
        {
            if (_previousIsValid)
            {
                // The client uses the new token: so does the server from now on, and the old one ends.
                _previousIsValid = false;
                Writer.SetToken(_channelId, _tokenId, ChunkSecurity.None);
            }

            fault = null;
            return ChunkSecurity.None;
        }

        if (_previousIsValid && tokenId == _previousTokenId)
        {
            fault = null;
            return ChunkSecurity.None;
        }

        fault = new ChannelFault(StatusCodes.BadSecureChannelTokenUnknown, $"The token {tokenId} is unknown or has expired.");
        return null;
    }

    protected override void Fail(ChannelFault fault)
    {
        ServerLog.ChannelFailed(_server.Logger, Connection.RemoteEndPoint, _channelId, fault);
        var error = new ErrorMessage
        {
            Error = fault.Status,
            Reason = fault.Status == StatusCodes.BadSecurityChecksFailed ? null : fault.Reason,
        };
        SendTransportMessage(MessageType.Error, error);
        Connection.Close(new CloseReason(CloseKind.ProtocolError, fault.ToString()));
    }

    private void Issue(string policyUri, uint requestId, uint requestHandle, uint requestedLifetime)
    {
        TimeSpan longest = _server.Options.MaxTokenLifetime;
        TimeSpan wished = requestedLifetime == 0 ? longest : TimeSpan.FromMilliseconds(requestedLifetime);
        _tokenLifetime = wished < ShortestLifetime ? ShortestLifetime : wished > longest ? longest : wished;
        _tokenCreated = _server.Time.GetTimestamp();
        bool isNew = _channelId == 0;
        if (isNew)
        {
            _channelId = _server.NextChannelId();
            MaxMessageBytes = _server.Options.MaxMessageBytes;
        }

        (_previousTokenId, _previousIsValid) = (_tokenId, !isNew);
        _tokenId++;
        var response = new OpenSecureChannelResponse
        {
            SecurityToken = new ChannelSecurityToken
            {
                ChannelId = _channelId,
                TokenId = _tokenId,
                CreatedAt = Now,
                RevisedLifetime = (uint)_tokenLifetime.TotalMilliseconds,
            },
        };
        using var clear = new MessageBuffer(Pool);
        new AsymmetricHeader(_channelId, policyUri, default, default).Write(clear);
        using var message = new MessageBuffer(Pool);
        EncodeResponse(message, requestHandle, StatusCodes.Good, response);
        Writer.WriteOpen(clear.Segment, ChunkSecurity.None, requestId, message.Written);
        if (isNew)
        {
            Writer.SetToken(_channelId, _tokenId, ChunkSecurity.None);
        }

        Connection.RequestTick();
    }

    private DateTime Now => _server.Time.GetUtcNow().UtcDateTime;

    private void SendTransportMessage<T>(uint type, in T body)
        where T : struct, IStructure
    {
        using var buffer = new MessageBuffer(Pool);
        var encoder = new BinaryEncoder(buffer);
        encoder.WriteStructure(body);
        encoder.Complete();
        Writer.WriteTransportMessage(type, buffer.Written);
    }
}
