using System.Buffers;
using FastPort.Connections;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>
/// The client's end of a secure channel. What it receives is handled on the connection's loop; requests are sent from any thread.
/// <see cref="_gate"/> guards the table of requests and the end of the channel.
/// </summary>
internal sealed class ClientChannel : ChannelProtocol
{
    // The server grants a quarter more; renewing at three quarters leaves time for a slow answer (OPC 10000-4, 5.6.2).
    private const double RenewAt = 0.75;

    private readonly string _endpointUrl;
    private readonly OpcUaClientOptions _options;
    private readonly ChannelCredentials? _credentials;
    private readonly TaskCompletionSource _opened = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, PendingRequest> _requests = [];
    private readonly Stack<PendingRequest<CancelResponse>> _cancels = [];
    private StatusCode _end;
    private uint _lastRequest;
    private uint _openRequest;
    private uint _channelId;
    private uint _tokenId;
    private ChunkSecurity _security = ChunkSecurity.None;
    private (uint TokenId, ChunkSecurity Security)? _previous;
    private byte[]? _nonce;
    private long _openUntil = long.MaxValue;
    private MessageBuffer? _request;

    /// <param name="endpointUrl">The server's endpoint.</param>
    /// <param name="options">The client's options.</param>
    /// <param name="credentials">The certificates of both sides; null for no security. Owned by the channel from now on.</param>
    public ClientChannel(string endpointUrl, OpcUaClientOptions options, ChannelCredentials? credentials)
        : base(
            new EncodingLimits(MaxStringBytes: options.MaxMessageBytes, MaxByteStringBytes: options.MaxMessageBytes),
            ArrayPool<byte>.Shared)
    {
        _endpointUrl = endpointUrl;
        _options = options;
        _credentials = credentials;
        MaxChunkBytes = options.MaxChunkBytes;
        MaxMessageBytes = options.MaxMessageBytes;
    }

    /// <summary>The certificates of both sides; null without security.</summary>
    public ChannelCredentials? Credentials => _credentials;

    private string PolicyUri => (_credentials?.Policy ?? SecurityPolicy.None).Uri;

    /// <summary>Completes when the channel is open, or fails with the reason why it is not.</summary>
    public Task Opened => _opened.Task;

    /// <summary>Sends a request and waits for its response.</summary>
    /// <param name="token">The session's token; null id for none.</param>
    /// <param name="request">The request.</param>
    /// <param name="pool">Requests with this response that can be used again; also the lock of the stack.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <param name="terms">How the request waits. Defaults to the client's timeout.</param>
    /// <param name="into">What the response is decoded into. Defaults to an empty one.</param>
    public ValueTask<ServiceResult<TResponse>> SendAsync<TRequest, TResponse>(
        in NodeId token, in TRequest request, Stack<PendingRequest<TResponse>> pool, CancellationToken cancellationToken,
        RequestTerms terms = default, in TResponse into = default)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        cancellationToken.ThrowIfCancellationRequested();
        PendingRequest<TResponse> pending;
        lock (pool)
        {
            pending = pool.TryPop(out PendingRequest<TResponse>? used) ? used : new PendingRequest<TResponse>(pool);
        }

        ValueTask<ServiceResult<TResponse>> task = pending.Start(terms, into);
        int timeout = terms.TimeoutMilliseconds ?? (int)_options.RequestTimeout.TotalMilliseconds;
        uint id;
        lock (_gate)
        {
            if (!_end.IsGood)
            {
                pending.Fail(_end, RequestFate.Unsent);
                return task;
            }

            id = ++_lastRequest == 0 ? ++_lastRequest : _lastRequest;
            pending.Deadline = timeout == Timeout.Infinite ? long.MaxValue : Environment.TickCount64 + timeout;
            _requests.Add(id, pending);
        }

        MessageBuffer buffer = Interlocked.Exchange(ref _request, null) ?? new MessageBuffer(Pool);
        Encode(buffer, token, id, Math.Max(timeout, 0), request);
        StatusCode status = Writer.Write(MessageType.Message, id, ref buffer);
        buffer.Clear(64 * 1024);
        _request = buffer;
        if (!status.IsGood)
        {
            TakeRequest(id)?.Fail(status, RequestFate.Unsent);
            return task;
        }

        Connection.Flush();
        return cancellationToken.CanBeCanceled ? WaitAsync(task, token, id, cancellationToken) : task;
    }

    /// <summary>Asks for a new token now; the loop does so by itself in time.</summary>
    public void Renew() => Connection.Post(static channel => ((ClientChannel)channel!).SendOpen(SecurityTokenRequestType.Renew), this);

    public override long OnTick(long nowMilliseconds)
    {
        if (_channelId == 0)
        {
            if (_openUntil == long.MaxValue)
            {
                _openUntil = nowMilliseconds + (long)_options.ConnectTimeout.TotalMilliseconds;
            }

            if (nowMilliseconds >= _openUntil)
            {
                Fail(new ChannelFault(
                    StatusCodes.BadTimeout, $"The secure channel was not opened within {_options.ConnectTimeout.TotalSeconds} s."));
            }

            return _openUntil;
        }

        return FailLateRequests() ? ConnectionClock.NextTick : ConnectionClock.Never;
    }

    public override void OnClosed(CloseReason reason)
    {
        End(StatusCodes.BadConnectionClosed, reason.ToString());
        _credentials?.Dispose();
        base.OnClosed(reason);
    }

    protected override void OnOpened()
    {
        var hello = new HelloMessage
        {
            ReceiveBufferSize = (uint)_options.MaxChunkBytes,
            SendBufferSize = (uint)_options.MaxChunkBytes,
            MaxMessageSize = (uint)_options.MaxMessageBytes,
            EndpointUrl = _endpointUrl,
        };
        using var buffer = new MessageBuffer(Pool);
        var encoder = new BinaryEncoder(buffer);
        encoder.WriteStructure(hello);
        encoder.Complete();
        Writer.WriteTransportMessage(MessageType.Hello, buffer.Written);
        Connection.Flush();
    }

    protected override ChannelFault? OnTransportMessage(uint type, ReadOnlySpan<byte> body)
    {
        var decoder = new BinaryDecoder(body, Limits);
        if (type == MessageType.Error)
        {
            ErrorMessage error = decoder.ReadStructure<ErrorMessage>();
            End(error.Error, error.Reason ?? "the server gave no reason");
            Connection.Close(CloseReason.PeerClosed);
            return null;
        }

        AcknowledgeMessage acknowledge = decoder.ReadStructure<AcknowledgeMessage>();
        if (type != MessageType.Acknowledge || !decoder.Error.IsGood || _channelId != 0)
        {
            return new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, "The server sent another message than Acknowledge.");
        }

        int chunkBytes = ChannelLimits.AgreeOnChunkBytes(
            _options.MaxChunkBytes, acknowledge.ReceiveBufferSize, acknowledge.SendBufferSize);
        if (chunkBytes < ChannelLimits.MinChunkBytes)
        {
            return new ChannelFault(StatusCodes.BadConnectionRejected, $"The server's buffers of {chunkBytes} bytes are too small.");
        }

        Writer.SetLimits(new ChannelLimits(
            chunkBytes, _options.MaxMessageBytes, acknowledge.MaxMessageSize, acknowledge.MaxChunkCount));
        SendOpen(SecurityTokenRequestType.Issue);
        return null;
    }

    protected override ChannelFault? OnOpen(ReadOnlySpan<byte> chunk)
    {
        if (!AsymmetricHeader.TryRead(chunk, out AsymmetricHeader header, out int clearBytes)
            || header.PolicyUri != PolicyUri
            || (_credentials is not null && !_credentials.IsPeer(header.SenderCertificate.Span)))
        {
            return new ChannelFault(
                StatusCodes.BadSecurityChecksFailed, "The header of the server's OpenSecureChannel message is not valid.");
        }

        using var scratch = new MessageBuffer(Pool);
        ChunkSecurity security = _credentials?.Asymmetric ?? ChunkSecurity.None;
        if (!security.TryUnprotect(chunk, clearBytes, scratch, out ReadOnlySpan<byte> content))
        {
            return new ChannelFault(
                StatusCodes.BadSecurityChecksFailed, "The signature or padding of the server's OpenSecureChannel message is not valid.");
        }

        var decoder = new BinaryDecoder(content, Limits);
        if (CheckSequence(decoder.Read<uint>()) is { } fault)
        {
            return fault;
        }

        uint requestId = decoder.Read<uint>();
        NodeId type = decoder.ReadNodeId();
        ResponseHeader responseHeader = decoder.ReadStructure<ResponseHeader>();
        if (!responseHeader.ServiceResult.IsGood)
        {
            return new ChannelFault(responseHeader.ServiceResult, "The server refused to open the secure channel.");
        }

        OpenSecureChannelResponse response = decoder.ReadStructure<OpenSecureChannelResponse>();
        ChannelSecurityToken token = response.SecurityToken;
        if (!decoder.Error.IsGood || type.Number != OpenSecureChannelResponse.EncodingId || requestId != _openRequest
            || (_channelId != 0 && token.ChannelId != _channelId) || token.ChannelId == 0
            || (_credentials is not null && response.ServerNonce.Length != ChannelCredentials.NonceBytes))
        {
            return new ChannelFault(StatusCodes.BadDecodingError, "The server's OpenSecureChannel message is not valid.");
        }

        _previous = _channelId == 0 ? null : (_tokenId, _security);
        (_channelId, _tokenId) = (token.ChannelId, token.TokenId);
        _security = _credentials?.Derive(_options.SecurityMode, _nonce, response.ServerNonce.Span) ?? ChunkSecurity.None;
        Writer.SetToken(_channelId, _tokenId, _security);
        Connection.PostAfter(
            TimeSpan.FromMilliseconds(RenewAt * Math.Max(token.RevisedLifetime, 1000)),
            static channel => ((ClientChannel)channel!).SendOpen(SecurityTokenRequestType.Renew),
            this);
        _opened.TrySetResult();
        return null;
    }

    protected override ChunkSecurity? FindToken(uint channelId, uint tokenId, out ChannelFault? fault)
    {
        // The server may use the old token until it has seen the new one.
        ChunkSecurity? security = _channelId == 0 || channelId != _channelId ? null
            : tokenId == _tokenId ? _security
            : tokenId == _previous?.TokenId ? _previous.Value.Security
            : null;
        fault = security is not null
            ? null
            : new ChannelFault(
                StatusCodes.BadSecureChannelTokenUnknown, $"The server used the unknown token {tokenId} of channel {channelId}.");
        return security;
    }

    protected override ChannelFault? OnMessage(uint requestId, ReadOnlySpan<byte> message, ref MessageBuffer? owner)
    {
        PendingRequest? pending = TakeRequest(requestId);
        if (pending is null)
        {
            // Given up before.
            return null;
        }

        var decoder = new BinaryDecoder(message, Limits);
        NodeId type = decoder.ReadNodeId();
        ResponseHeader header = decoder.ReadStructure<ResponseHeader>();
        if (!decoder.Error.IsGood)
        {
            pending.Fail(decoder.Error);
        }
        else if (header.ServiceResult.IsBad)
        {
            pending.Fail(header.ServiceResult);
        }
        else if (pending.BorrowsBytes && owner is not null)
        {
            var lender = new BinaryDecoder(owner.Segment, Limits);
            lender.Skip(message.Length - decoder.Left);
            if (pending.Complete(type.Number, ref lender, owner))
            {
                owner = null;
            }
        }
        else
        {
            pending.Complete(type.Number, ref decoder, owner: null);
        }

        return null;
    }

    protected override void OnAborted(uint requestId, StatusCode status, string? reason) => TakeRequest(requestId)?.Fail(status);

    protected override void Fail(ChannelFault fault)
    {
        End(fault.Status, fault.Reason);
        Connection.Close(new CloseReason(CloseKind.ProtocolError, fault.ToString()));
    }

    private async ValueTask<ServiceResult<T>> WaitAsync<T>(
        ValueTask<ServiceResult<T>> task, NodeId token, uint id, CancellationToken cancellationToken)
    {
        using (cancellationToken.UnsafeRegister(
            static state =>
            {
                var (channel, id) = ((ClientChannel, uint))state!;
                channel.TakeRequest(id)?.Fail(StatusCodes.BadRequestCancelledByClient, RequestFate.Unanswered);
            },
            (this, id)))
        {
            ServiceResult<T> result = await task.ConfigureAwait(false);
            if (result.Status == StatusCodes.BadRequestCancelledByClient && cancellationToken.IsCancellationRequested)
            {
                if (!token.IsNull)
                {
                    // Nobody waits for the answer: the request has ended here either way (OPC 10000-4, 5.7.5).
                    _ = SendAsync(token, new CancelRequest { RequestHandle = id }, _cancels, CancellationToken.None).AsTask();
                }

                cancellationToken.ThrowIfCancellationRequested();
            }

            return result;
        }
    }

    private void SendOpen(SecurityTokenRequestType type)
    {
        if (Connection.IsClosing)
        {
            return;
        }

        lock (_gate)
        {
            _openRequest = ++_lastRequest;
        }

        using var clear = new MessageBuffer(Pool);
        new AsymmetricHeader(_channelId, PolicyUri, _credentials?.OwnCertificate, _credentials?.PeerThumbprint).Write(clear);
        _nonce = _credentials is null ? null : ChannelCredentials.CreateNonce();
        using var message = new MessageBuffer(Pool);
        Encode(message, NodeId.Null, _openRequest, (int)_options.RequestTimeout.TotalMilliseconds, new OpenSecureChannelRequest
        {
            RequestType = type,
            SecurityMode = _credentials is null ? MessageSecurityMode.None : _options.SecurityMode,
            ClientNonce = _nonce,
            RequestedLifetime = (uint)_options.TokenLifetime.TotalMilliseconds,
        });
        Writer.WriteOpen(clear.Segment, _credentials?.Asymmetric ?? ChunkSecurity.None, _openRequest, message.Written);
        Connection.Flush();
    }

    private static void Encode<T>(MessageBuffer buffer, in NodeId token, uint handle, int timeoutHint, in T request)
        where T : struct, IServiceMessage
    {
        var encoder = new BinaryEncoder(buffer);
        encoder.Write(1u | ((uint)T.EncodingId << 16));
        encoder.WriteNodeId(token);
        encoder.WriteDateTime(DateTime.UtcNow);
        encoder.Write(handle);

        // No diagnostics, no audit id.
        encoder.Write(0u);
        encoder.Write(-1);
        encoder.Write((uint)timeoutHint);
        encoder.WriteExtensionObject(null);
        encoder.WriteStructure(request);
        encoder.Complete();
    }

    private PendingRequest? TakeRequest(uint id)
    {
        lock (_gate)
        {
            return _requests.Remove(id, out PendingRequest? pending) ? pending : null;
        }
    }

    // True if requests with a deadline are left.
    private bool FailLateRequests()
    {
        List<PendingRequest>? late = null;
        bool any = false;
        lock (_gate)
        {
            long now = Environment.TickCount64;
            foreach ((uint id, PendingRequest pending) in _requests)
            {
                if (now >= pending.Deadline)
                {
                    _requests.Remove(id);
                    (late ??= []).Add(pending);
                }
                else
                {
                    any |= pending.Deadline != long.MaxValue;
                }
            }
        }

        late?.ForEach(static pending => pending.Fail(StatusCodes.BadTimeout, RequestFate.Unanswered));
        return any;
    }

    private void End(StatusCode status, string reason)
    {
        PendingRequest[] pending;
        lock (_gate)
        {
            if (!_end.IsGood)
            {
                return;
            }

            _end = status;
            pending = [.. _requests.Values];
            _requests.Clear();
        }

        _opened.TrySetException(new OpcUaException(status, $"Cannot open a secure channel to {_endpointUrl}: {reason} ({status})."));
        foreach (PendingRequest request in pending)
        {
            request.Fail(status, RequestFate.Unanswered);
        }
    }
}
