using FastPort.Connections;
using FastPort.Logging;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>
/// The client's end of a secure channel. Received messages are handled on the connection's loop; requests are sent from any thread.
/// </summary>
internal sealed partial class ClientChannel : ChannelProtocol
{
    // A larger array of a request is not kept for the next one.
    private const int KeepRequestBytes = 64 * 1024;

    // The clock may be late by as much; a request never fails early.
    private static readonly int ClockMilliseconds = (int)ConnectionClock.Period.TotalMilliseconds;

    private readonly string _endpointUrl;
    private readonly OpcUaClientOptions _options;
    private readonly ConnectionClock _clock;
    private readonly TaskCompletionSource _opened = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly PendingRequests _requests = new();
    private readonly Stack<PendingRequest<CancelResponse>> _cancels = [];
    private long _openUntil = long.MaxValue;
    private MessageBuffer? _request;
    private volatile bool _isReleased;

    /// <param name="endpointUrl">The server's endpoint.</param>
    /// <param name="options">The client's options.</param>
    /// <param name="credentials">The certificates of both sides; null for no security. Owned by the channel from now on.</param>
    /// <param name="clock">The connection's clock.</param>
    public ClientChannel(string endpointUrl, OpcUaClientOptions options, ChannelCredentials? credentials, ConnectionClock clock)
        : base(
            new EncodingLimits(options.MaxMessageBytes, options.MaxMessageBytes, MaxArrayLength: options.MaxMessageBytes),
            clock.Time)
    {
        _clock = clock;
        _endpointUrl = endpointUrl;
        _options = options;
        Credentials = credentials;
        MaxChunkBytes = options.MaxChunkBytes;

        // The waiting bytes are this side's requests. A server that waits until its answers are read would never read them.
        PauseAtPendingBytes = int.MaxValue;
    }

    /// <summary>The limits for decoders of messages and of their parts: the size of the largest message.</summary>
    public new EncodingLimits Limits => base.Limits;

    /// <summary>The endpoint, as sent to the server.</summary>
    public string EndpointUrl => _endpointUrl;

    /// <summary>Completes when the channel is open, or fails with the reason why it is not.</summary>
    public Task Opened => _opened.Task;

    /// <summary>The latest end of a called method, in milliseconds of the clock; 0 if none runs.</summary>
    public long CallsUntil => _requests.LastDeadlineOf<CallResponse>();

    protected override int MaxSendBytes => _options.MaxSendBytes;

    // Also while this process is suspended: the server's clock continues, so a token is renewed at once afterwards.
    protected override TimeSpan TokenClock => Time.GetElapsedTime(0);

    /// <summary>Sends a request and waits for its response.</summary>
    /// <param name="token">The session's token; null id for none.</param>
    /// <param name="request">The request.</param>
    /// <param name="pool">Reusable requests with this response; also the lock of the stack.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <param name="terms">How the request waits. Defaults to the client's timeout.</param>
    /// <param name="into">The target of the decoded response. Defaults to an empty one.</param>
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
        pending.Deadline = timeout == Timeout.Infinite ? long.MaxValue : _clock.NowMilliseconds + ClockMilliseconds + timeout;
        if (_requests.TryAdd(pending, out uint id) is { IsGood: false } end)
        {
            pending.Fail(end, RequestFate.Unsent);
            return task;
        }

        MessageBuffer buffer = Interlocked.Exchange(ref _request, null) ?? new MessageBuffer(Pool);
        try
        {
            Encode(buffer, token, id, Math.Max(timeout, 0), request);
        }
        catch
        {
            // The caller's list threw: nothing is sent, and no caller waits.
            buffer.Dispose();
            _requests.Take(id);
            throw;
        }

        StatusCode status = Writer.Write(MessageType.Message, id, ref buffer);
        buffer.Clear(KeepRequestBytes);
        Interlocked.Exchange(ref _request, buffer)?.Dispose();
        if (_isReleased)
        {
            DropRequest();
        }

        if (!status.IsGood)
        {
            _requests.Take(id)?.Fail(status, RequestFate.Unsent);
            return task;
        }

        Connection.Flush();
        return cancellationToken.CanBeCanceled ? WaitAsync(task, token, id, cancellationToken) : task;
    }

    public override long OnTick(long nowMilliseconds)
    {
        if (ChannelId == 0)
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

        bool anyWaits = _requests.FailLate(nowMilliseconds);
        if (IsAside)
        {
            return ConnectionClock.NextTick;
        }

        double left = DropExpiredTokens().TotalMilliseconds;
        if (left > 0 && Math.Min(left, RenewToken().TotalMilliseconds) is > 0 and var next)
        {
            return anyWaits ? ConnectionClock.NextTick : nowMilliseconds + (long)next + 1;
        }

        Fail(new ChannelFault(StatusCodes.BadSecureChannelTokenUnknown, "The server did not renew the secure channel's token in time."));
        return ConnectionClock.Never;
    }

    public override void OnClosed(CloseReason reason)
    {
        End(StatusCodes.BadConnectionClosed, reason.ToString());
        base.OnClosed(reason);
    }

    protected override void OnOpened()
    {
        Incoming.SetLimits(_options.MaxMessageBytes);
        var hello = new HelloMessage
        {
            ReceiveBufferSize = (uint)_options.MaxChunkBytes,
            SendBufferSize = (uint)_options.MaxChunkBytes,
            MaxMessageSize = (uint)_options.MaxMessageBytes,
            EndpointUrl = _endpointUrl,
        };
        Writer.WriteTransportMessage(MessageType.Hello, hello);
        Connection.Flush();
    }

    protected override ChannelFault? OnTransportMessage(uint type, ReadOnlySpan<byte> body)
    {
        var decoder = new BinaryDecoder(body, Limits);
        if (type == MessageType.Error)
        {
            ErrorMessage error = decoder.ReadStructure<ErrorMessage>();
            string reason = error.Reason is { } text ? PeerText.Escape(text) : "the server gave no reason";
            Connection.Close(CloseReason.PeerClosed);
            End(BadOf(error.Error), reason, AdviceFor(error.Error));
            return null;
        }

        AcknowledgeMessage acknowledge = decoder.ReadStructure<AcknowledgeMessage>();
        if (type != MessageType.Acknowledge || !decoder.Error.IsGood || ChannelId != 0 || _opening is not null)
        {
            return new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, "The server sent a message other than Acknowledge.");
        }

        int chunkBytes = ChannelLimits.AgreeOnChunkBytes(
            _options.MaxChunkBytes, acknowledge.ReceiveBufferSize, acknowledge.SendBufferSize);
        if (chunkBytes < ChannelLimits.MinChunkBytes)
        {
            return new ChannelFault(StatusCodes.BadConnectionRejected, $"The server's buffers of {chunkBytes} bytes are too small.");
        }

        Writer.SetLimits(new ChannelLimits(
            chunkBytes, _options.MaxMessageBytes, acknowledge.MaxMessageSize, acknowledge.MaxChunkCount));
        Open(SecurityTokenRequestType.Issue);
        return null;
    }

    protected override ChannelFault? OnMessage(uint requestId, ReadOnlySpan<byte> message, ref MessageBuffer? owner)
    {
        PendingRequest? pending = _requests.Take(requestId);
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
            pending.FailWithoutResult(decoder.Error);
        }
        else if (header.ServiceResult.IsBad)
        {
            Fail(pending, header.ServiceResult);
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

    /// <summary>The connection has ended; a request may still be about to be sent.</summary>
    protected override void Release()
    {
        _isReleased = true;
        DropRequest();
        base.Release();
    }

    // A full fence: either the thread that keeps a buffer sees the release, or the release sees the buffer.
    private void DropRequest() => Interlocked.Exchange(ref _request, null)?.Dispose();

    protected override void OnAborted(uint requestId, StatusCode status, string? reason) =>
        _requests.Take(requestId)?.FailWithoutResult(BadOf(status));

    protected override void Fail(ChannelFault fault)
    {
        // Closed first: the caller of a failed request sees the reason.
        Connection.Close(new CloseReason(CloseKind.ProtocolError, fault.ToString()));
        End(fault.Status, fault.Reason);
    }

    private async ValueTask<ServiceResult<T>> WaitAsync<T>(
        ValueTask<ServiceResult<T>> task, NodeId token, uint id, CancellationToken cancellationToken)
    {
        using (cancellationToken.UnsafeRegister(
            static state =>
            {
                var (channel, id) = ((ClientChannel, uint))state!;
                channel._requests.Take(id)?.Fail(StatusCodes.BadRequestCancelledByClient, RequestFate.Unanswered);
            },
            (this, id)))
        {
            ServiceResult<T> result = await task.ConfigureAwait(false);
            if (result.Status == StatusCodes.BadRequestCancelledByClient && cancellationToken.IsCancellationRequested)
            {
                if (!token.IsNull)
                {
                    // No caller waits for the answer: the request has ended here either way (OPC 10000-4, 5.7.5).
                    _ = SendAsync(token, new CancelRequest { RequestHandle = id }, _cancels, CancellationToken.None).AsTask();
                }

                cancellationToken.ThrowIfCancellationRequested();
            }

            return result;
        }
    }

    // These come when the time is over, or the answer does not fit: the request may already have been executed.
    private static void Fail(PendingRequest pending, StatusCode fault)
    {
        if (fault == StatusCodes.BadTimeout || fault == StatusCodes.BadRequestTimeout || fault == StatusCodes.BadResponseTooLarge)
        {
            pending.FailWithoutResult(fault);
        }
        else
        {
            pending.Fail(fault, RequestFate.Answered);
        }
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

    // A server that ends something with a good status: it must not look like an answer.
    private static StatusCode BadOf(StatusCode status) => status.IsBad ? status : StatusCodes.BadUnknownResponse;

    // A server reveals no more to a stranger (OPC 10000-4, 6.1.3): usually it does not trust the client's certificate yet.
    private string AdviceFor(StatusCode status) =>
        Credentials is not null && (status == StatusCodes.BadSecurityChecksFailed || status == StatusCodes.BadCertificateUntrusted)
            ? " If the server does not trust this client yet, have it trust the client's certificate "
                + $"{Convert.ToHexString(Credentials.OwnThumbprint)}, {CertificateStore.OwnCertificateIn(_options.Certificates.Directory)}."
            : string.Empty;

    private void End(StatusCode status, string reason, string advice = "")
    {
        if (_requests.TryEnd(status))
        {
            _opened.TrySetException(
                new OpcUaException(status, $"Cannot open a secure channel to {_endpointUrl}: {reason} ({status}).{advice}"));

            // There may be no waiter left; the exception counts as observed.
            _ = _opened.Task.Exception;
        }
    }
}
