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

    // The protection by the token, and that by the one before, until the client uses the new one.
    private ChunkSecurity _security = ChunkSecurity.None;
    private (uint TokenId, ChunkSecurity Security)? _previous;

    // Null before the channel is opened; the credentials also for policy None.
    private SecurityPolicy? _policy;
    private ChannelCredentials? _credentials;
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

    /// <summary>The certificates of both sides; null without security.</summary>
    public ChannelCredentials? Credentials => _credentials;

    /// <summary>
    /// Whether sessions may be used on the channel: without security a client may only ask for endpoints where None is not offered.
    /// </summary>
    public bool AllowsSessions => _policy is not null && _server.Offers(_policy, SecurityMode);

    /// <summary>How messages are protected.</summary>
    public MessageSecurityMode SecurityMode { get; private set; }

    /// <summary>The client's address.</summary>
    public System.Net.EndPoint? RemoteEndPoint => Connection.RemoteEndPoint;

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
        foreach (ServerSession session in _sessions.Where(session => session.Channel == this))
        {
            // Subscriptions belong to this loop, so they end with the channel. The session can be activated on another one.
            session.Subscriptions?.Close(tells: false);
            session.Subscriptions = null;
            session.Channel = null;
        }

        // Asynchronously: the loop must not run the methods' callbacks.
        _ = _ended.CancelAsync();

        _credentials?.Dispose();
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
                StatusCodes.BadConnectionRejected,
                $"The buffers of {chunkBytes} bytes are smaller than {ChannelLimits.MinChunkBytes} bytes.");
        }

        MaxChunkBytes = chunkBytes;
        uint messageBytes = (uint)_server.Options.MaxMessageBytes;
        long chunks = hello.MaxChunkCount == 0 ? uint.MaxValue : hello.MaxChunkCount;
        LargestResponse = (int)Math.Min(
            Math.Min(messageBytes, hello.MaxMessageSize == 0 ? uint.MaxValue : hello.MaxMessageSize), chunks * chunkBytes);
        Writer.SetLimits(new ChannelLimits(chunkBytes, _server.Options.MaxMessageBytes, (uint)LargestResponse, hello.MaxChunkCount));
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

        if (header.ChannelId != _channelId)
        {
            return new ChannelFault(StatusCodes.BadTcpSecureChannelUnknown, $"There is no secure channel {header.ChannelId} here.");
        }

        if (Identify(header) is { } refused)
        {
            return refused;
        }

        ChunkSecurity security = _credentials?.Asymmetric ?? ChunkSecurity.None;
        using var scratch = new MessageBuffer(Pool);
        if (!security.TryUnprotect(chunk, clearBytes, scratch, out ReadOnlySpan<byte> content))
        {
            return new ChannelFault(
                StatusCodes.BadSecurityChecksFailed, "The signature or the padding of an OpenSecureChannel message is not valid.");
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

        if (CheckMode(request) is { } mismatch)
        {
            return mismatch;
        }

        Issue(requestId, requestHeader.RequestHandle, request);
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
            fault = null;
            return _security;
        }

        if (_previous is { } previous && tokenId == previous.TokenId)
        {
            fault = null;
            return previous.Security;
        }

        fault = new ChannelFault(StatusCodes.BadSecureChannelTokenUnknown, $"The token {tokenId} is unknown or has expired.");
        return null;
    }

    protected override void OnTokenUsed(uint tokenId)
    {
        if (_previous is not null && tokenId == _tokenId)
        {
            // The client uses the new token: so does the server from now on, and the old one ends.
            _previous = null;
            Writer.SetToken(_channelId, _tokenId, _security);
        }
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

    // The peer of a new channel, or the same peer that renews.
    private ChannelFault? Identify(in AsymmetricHeader header)
    {
        if (_policy is not null)
        {
            bool isSame = header.PolicyUri == _policy.Uri && (_credentials is null || _credentials.IsPeer(header.SenderCertificate.Span));
            return isSame
                ? null
                : new ChannelFault(
                    StatusCodes.BadSecurityChecksFailed, "The secure channel was renewed with another policy or certificate.");
        }

        if (SecurityPolicy.Find(header.PolicyUri) is not { } policy)
        {
            // The client's text goes neither into the log nor back.
            return new ChannelFault(StatusCodes.BadSecurityPolicyRejected, "The security policy is unknown.");
        }

        // Without security every client may ask for endpoints.
        if (policy.IsNone)
        {
            _policy = policy;
            return null;
        }

        if (_server.Certificates is not { } certificates || !_server.Offers(policy))
        {
            return new ChannelFault(StatusCodes.BadSecurityPolicyRejected, $"The security policy {policy.Uri} is not offered.");
        }

        if (!header.ReceiverThumbprint.Span.SequenceEqual(certificates.Own.Thumbprint))
        {
            return new ChannelFault(
                StatusCodes.BadSecurityChecksFailed, "The message is encrypted for another certificate than the server's.");
        }

        if (CertificateStore.TryReadLeaf(header.SenderCertificate.Span) is not { } certificate)
        {
            return new ChannelFault(StatusCodes.BadSecurityChecksFailed, "The client's certificate cannot be read.");
        }

        StatusCode status = certificates.Validate(certificate, applicationUri: null);
        if (status.IsBad)
        {
            if (_server.MayWarn())
            {
                ServerLog.CertificateRefused(_server.Logger, Connection.RemoteEndPoint, certificate.Thumbprint, status);
            }

            certificate.Dispose();

            // A stranger is not told more than that (OPC 10000-4, 6.1.3).
            return new ChannelFault(
                status == StatusCodes.BadCertificateUntrusted ? StatusCodes.BadSecurityChecksFailed : status,
                "The client's certificate is not accepted.");
        }

        _policy = policy;
        _credentials = new ChannelCredentials(policy, certificates.Own, certificate);
        return null;
    }

    /// <summary>Runs an action on the loop, unless the connection has ended.</summary>
    public void Post(Action action) => Connection.Post(static action => ((Action)action!)(), action);

    private ChannelFault? CheckMode(in OpenSecureChannelRequest request)
    {
        MessageSecurityMode mode = request.SecurityMode;
        bool isPossible = _policy!.IsNone ? mode == MessageSecurityMode.None : _server.Offers(_policy, mode);
        if (!isPossible || (_channelId != 0 && mode != SecurityMode))
        {
            return new ChannelFault(
                StatusCodes.BadSecurityModeRejected, $"The security mode {mode} does not go with the policy {_policy.Uri}.");
        }

        if (!_policy.IsNone && request.ClientNonce.Length != ChannelCredentials.NonceBytes)
        {
            return new ChannelFault(
                StatusCodes.BadNonceInvalid,
                $"The client's nonce has {request.ClientNonce.Length} bytes instead of {ChannelCredentials.NonceBytes}.");
        }

        SecurityMode = mode;
        return null;
    }

    private void Issue(uint requestId, uint requestHandle, in OpenSecureChannelRequest request)
    {
        TimeSpan longest = _server.Options.MaxTokenLifetime;
        TimeSpan wished = request.RequestedLifetime == 0 ? longest : TimeSpan.FromMilliseconds(request.RequestedLifetime);
        _tokenLifetime = wished < ShortestLifetime ? ShortestLifetime : wished > longest ? longest : wished;
        _tokenCreated = _server.Time.GetTimestamp();
        bool isNew = _channelId == 0;
        if (isNew)
        {
            _channelId = _server.NextChannelId();
            MaxMessageBytes = _server.Options.MaxMessageBytes;
        }

        byte[]? nonce = _credentials is null ? null : ChannelCredentials.CreateNonce();
        _previous = isNew ? null : (_tokenId, _security);
        _tokenId++;
        _security = _credentials?.Derive(SecurityMode, nonce, request.ClientNonce.Span) ?? ChunkSecurity.None;
        var response = new OpenSecureChannelResponse
        {
            SecurityToken = new ChannelSecurityToken
            {
                ChannelId = _channelId,
                TokenId = _tokenId,
                CreatedAt = Now,
                RevisedLifetime = (uint)_tokenLifetime.TotalMilliseconds,
            },
            ServerNonce = nonce,
        };
        using var clear = new MessageBuffer(Pool);
        new AsymmetricHeader(_channelId, _policy!.Uri, _credentials?.OwnCertificate, _credentials?.PeerThumbprint).Write(clear);
        using var message = new MessageBuffer(Pool);
        EncodeResponse(message, requestHandle, StatusCodes.Good, response);
        Writer.WriteOpen(clear.Segment, _credentials?.Asymmetric ?? ChunkSecurity.None, requestId, message.Written);
        if (isNew)
        {
            Writer.SetToken(_channelId, _tokenId, _security);
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
