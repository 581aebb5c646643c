using System.Buffers.Binary;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Support;

/// <summary>A session on a <see cref="RawChannel"/>: sends requests, and reads their responses in any order.</summary>
internal sealed class RawSession : IDisposable
{
    private const int MessageHeaderBytes = 24;
    private const int MaxChunkBody = 65_535 - MessageHeaderBytes;

    private readonly RawChannel _channel;
    private readonly Dictionary<uint, byte[]> _responses = [];
    private readonly Queue<uint> _publishes = new();
    private List<byte> _parts = [];
    private NodeId _token;
    private uint _lastRequest = 10;

    private RawSession(RawChannel channel) => _channel = channel;

    /// <summary>The session's secret token.</summary>
    public NodeId Token => _token;

    /// <summary>Sends and receives chunks.</summary>
    public RawChannel Channel => _channel;

    /// <summary>Opens a channel, and creates and activates a session.</summary>
    public static async Task<RawSession> OpenAsync(TestServer server, double timeout = 60_000, uint maxMessageBytes = 0)
    {
        (RawSession session, _) = await CreateAsync(server, timeout, maxMessageBytes);
        await session.CallAsync<ActivateSessionRequest, ActivateSessionResponse>(default);
        return session;
    }

    /// <summary>Opens a channel, and creates a session.</summary>
    public static async Task<(RawSession Session, CreateSessionResponse Created)> CreateAsync(
        TestServer server, double timeout = 60_000, uint maxMessageBytes = 0)
    {
        var session = new RawSession(await RawChannel.OpenAsync(server, maxMessageBytes));
        var created = await session.CallAsync<CreateSessionRequest, CreateSessionResponse>(
            new CreateSessionRequest { RequestedSessionTimeout = timeout });
        session._token = created.AuthenticationToken;
        return (session, created);
    }

    /// <summary>Creates and activates another session on the channel.</summary>
    public async Task RenewAsync()
    {
        _token = NodeId.Null;
        var created = await CallAsync<CreateSessionRequest, CreateSessionResponse>(
            new CreateSessionRequest { RequestedSessionTimeout = 60_000 });
        _token = created.AuthenticationToken;
        await CallAsync<ActivateSessionRequest, ActivateSessionResponse>(default);
    }

    /// <summary>Opens another channel for a session, and activates it there.</summary>
    public static async Task<(StatusCode Status, RawSession Session)> TryTakeOverAsync(TestServer server, NodeId token)
    {
        var session = new RawSession(await RawChannel.OpenAsync(server)) { _token = token };
        return ((await session.TryAsync<ActivateSessionRequest, ActivateSessionResponse>(default)).Status, session);
    }

    /// <summary>Opens another channel for a session, which is activated there.</summary>
    public static async Task<RawSession> TakeOverAsync(TestServer server, NodeId token)
    {
        (StatusCode status, RawSession session) = await TryTakeOverAsync(server, token);
        Assert.Equal(StatusCodes.Good, status);
        return session;
    }

    /// <summary>Sends a request without waiting; returns its id.</summary>
    public async Task<uint> SendAsync<T>(T request, uint timeoutHint = 0)
        where T : struct, IServiceMessage
    {
        uint id = ++_lastRequest;
        await _channel.SendMessageAsync(RawChannel.Request(request, _token, timeoutHint), requestId: id);
        return id;
    }

    /// <summary>The message of a request of this session.</summary>
    public byte[] Message<T>(T request)
        where T : struct, IServiceMessage => RawChannel.Request(request, _token);

    /// <summary>Sends any bytes as a message, then a valid request, and reads until the server has answered this request.</summary>
    /// <returns>The status of the response to the bytes; null if there was none before.</returns>
    public async Task<StatusCode?> SendBytesAsync(byte[] message)
    {
        uint first = ++_lastRequest;
        await _channel.SendMessageAsync(message, requestId: first);
        var read = new ReadValueId { NodeId = new NodeId(0, 2258), AttributeId = (uint)AttributeId.Value };
        uint second = await SendAsync(new ReadRequest { NodesToRead = [read] });
        (StatusCode status, _) = await ReceiveAsync<ReadResponse>(second);
        Assert.Equal(StatusCodes.Good, status);
        if (!_responses.Remove(first, out byte[]? response))
        {
            return null;
        }

        var decoder = new BinaryDecoder(response.AsSpan(), EncodingLimits.Default);
        decoder.ReadNodeId();
        return decoder.ReadStructure<ResponseHeader>().ServiceResult;
    }

    /// <summary>Sends a request with any body, and waits for the status of its response.</summary>
    public async Task<StatusCode> SendRawAsync(ushort encodingId, byte[] body)
    {
        uint id = ++_lastRequest;
        byte[] type = BitConverter.GetBytes(1u | ((uint)encodingId << 16));
        byte[] header = RawChannel.Encode(new RequestHeader { AuthenticationToken = _token, RequestHandle = id });
        byte[] message = [.. type, .. header, .. body];
        int sent = 0;
        for (; message.Length - sent > MaxChunkBody; sent += MaxChunkBody)
        {
            await _channel.SendMessageAsync(message[sent..(sent + MaxChunkBody)], MessageType.MessagePart, id);
        }

        await _channel.SendMessageAsync(message[sent..], requestId: id);
        return (await ReceiveAsync<ServiceFault>(id)).Status;
    }

    /// <summary>Waits for the response to a request.</summary>
    public async Task<(StatusCode Status, T Response)> ReceiveAsync<T>(uint id)
        where T : struct, IServiceMessage
    {
        byte[]? message;
        while (!_responses.Remove(id, out message))
        {
            (uint type, byte[] chunk) = await _channel.ReceiveAsync();
            Assert.True(type is MessageType.Message or MessageType.MessagePart, $"The server sent 0x{type:X8}.");
            _parts.AddRange(chunk.AsSpan(MessageHeaderBytes));
            if (type == MessageType.Message)
            {
                _responses.Add(BinaryPrimitives.ReadUInt32LittleEndian(chunk.AsSpan(MessageHeaderBytes - sizeof(uint))), [.. _parts]);
                _parts = [];
            }
        }

        return Decode<T>(message);
    }

    /// <summary>Sends a request and waits for its response; the status may be bad.</summary>
    public async Task<(StatusCode Status, TResponse Response)> TryAsync<TRequest, TResponse>(TRequest request)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage => await ReceiveAsync<TResponse>(await SendAsync(request));

    /// <summary>Sends a request and waits for its good response.</summary>
    public async Task<TResponse> CallAsync<TRequest, TResponse>(TRequest request)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        (StatusCode status, TResponse response) = await TryAsync<TRequest, TResponse>(request);
        Assert.Equal(StatusCodes.Good, status);
        return response;
    }

    public async Task<uint> SubscribeAsync(
        double interval = 10, uint keepAliveCount = 1000, uint lifetimeCount = 3000, uint maxNotifications = 0, byte priority = 0)
    {
        var response = await CallAsync<CreateSubscriptionRequest, CreateSubscriptionResponse>(new CreateSubscriptionRequest
        {
            RequestedPublishingInterval = interval,
            RequestedMaxKeepAliveCount = keepAliveCount,
            RequestedLifetimeCount = lifetimeCount,
            MaxNotificationsPerPublish = maxNotifications,
            PublishingEnabled = true,
            Priority = priority,
        });
        return response.SubscriptionId;
    }

    /// <summary>Monitors a value; the client handle is the number of the node.</summary>
    public async Task<MonitoredItemCreateResult> MonitorAsync(
        uint subscription, uint node, double sampling = 0, uint queueSize = 1, bool discardOldest = true,
        MonitoringMode mode = MonitoringMode.Reporting, ExtensionObject? filter = null, AttributeId attribute = AttributeId.Value)
    {
        var response = await CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(new CreateMonitoredItemsRequest
        {
            SubscriptionId = subscription,
            TimestampsToReturn = TimestampsToReturn.Both,
            ItemsToCreate =
            [
                new MonitoredItemCreateRequest
                {
                    ItemToMonitor = new ReadValueId { NodeId = new NodeId(2, node), AttributeId = (uint)attribute },
                    MonitoringMode = mode,
                    RequestedParameters = new MonitoringParameters
                    {
                        ClientHandle = node,
                        SamplingInterval = sampling,
                        QueueSize = queueSize,
                        DiscardOldest = discardOldest,
                        Filter = filter,
                    },
                },
            ],
        });
        return Assert.Single(response.Results!);
    }

    public static ExtensionObject Filter(DataChangeTrigger trigger, uint deadbandType = 0, double deadband = 0)
    {
        byte[] body = new byte[16];
        BinaryPrimitives.WriteInt32LittleEndian(body, (int)trigger);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(4), deadbandType);
        BinaryPrimitives.WriteDoubleLittleEndian(body.AsSpan(8), deadband);
        return new ExtensionObject(
            new ExpandedNodeId(new NodeId(0, DataChangeFilter.EncodingId)), ExtensionObjectEncoding.Binary, body);
    }

    /// <summary>Sends a Publish request whose response <see cref="NextAsync"/> reads.</summary>
    public async Task SendPublishAsync(params SubscriptionAcknowledgement[] acknowledgements) =>
        _publishes.Enqueue(await SendAsync(new PublishRequest { SubscriptionAcknowledgements = acknowledgements }));

    /// <summary>The response to the oldest Publish request.</summary>
    public Task<(StatusCode Status, PublishResponse Response)> NextAsync() => ReceiveAsync<PublishResponse>(_publishes.Dequeue());

    /// <summary>Sends a Publish request and waits for its good response.</summary>
    public async Task<PublishResponse> PublishAsync(params SubscriptionAcknowledgement[] acknowledgements)
    {
        await SendPublishAsync(acknowledgements);
        (StatusCode status, PublishResponse response) = await NextAsync();
        Assert.Equal(StatusCodes.Good, status);
        return response;
    }

    /// <summary>Publishes until this many values have come; keep-alive messages are passed over.</summary>
    public async Task<List<MonitoredItemNotification>> CollectAsync(int count)
    {
        List<MonitoredItemNotification> values = [];
        while (values.Count < count)
        {
            values.AddRange(Values(await PublishAsync()));
        }

        return values;
    }

    /// <summary>The values of a response; none for a keep-alive message.</summary>
    public static MonitoredItemNotification[] Values(in PublishResponse response)
    {
        if (response.NotificationMessage.NotificationData is not { Length: > 0 } data)
        {
            return [];
        }

        ExtensionObject changes = Assert.Single(data)!;
        Assert.Equal(DataChangeNotification.EncodingId, changes.TypeId.NodeId.Number);
        var decoder = new BinaryDecoder(changes.Body.Span, EncodingLimits.Default);
        var notification = decoder.ReadStructure<DataChangeNotification>();
        Assert.Equal((StatusCodes.Good, 0), (decoder.Error, decoder.Left));
        return notification.MonitoredItems!;
    }

    public void Dispose() => _channel.Dispose();

    private static (StatusCode Status, T Response) Decode<T>(byte[] message)
        where T : struct, IServiceMessage
    {
        var decoder = new BinaryDecoder(message.AsSpan(), EncodingLimits.Default);
        uint type = decoder.ReadNodeId().Number;
        StatusCode status = decoder.ReadStructure<ResponseHeader>().ServiceResult;
        if (type == ServiceFault.EncodingId)
        {
            return (status, default);
        }

        Assert.Equal(T.EncodingId, type);
        T response = decoder.ReadStructure<T>();
        Assert.Equal((StatusCodes.Good, 0), (decoder.Error, decoder.Left));
        return (status, response);
    }
}
