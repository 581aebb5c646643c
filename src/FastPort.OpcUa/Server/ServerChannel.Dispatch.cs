using FastPort.Connections;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <content>Requests: finds the session and the service, and writes the response.</content>
internal sealed partial class ServerChannel
{
    // A larger array of a response is not kept for the next one: an idle channel holds little.
    private const int KeepResponseBytes = 64 * 1024;

    // Above the number of every request.
    private const int MaxRequests = 1000;

    // The services that need a session, by the number of their request.
    private static readonly Service?[] Services = ListServices();

    private readonly List<ServerSession> _sessions = [];
    private MessageBuffer? _response;
    private volatile bool _isReleased;

    // The session of the last request: most channels have one.
    private ServerSession? _session;

    private delegate void Service(in ServiceCall call, ref BinaryDecoder decoder);

    protected override ChannelFault? OnMessage(uint requestId, ReadOnlySpan<byte> message, ref MessageBuffer? owner)
    {
        var decoder = new BinaryDecoder(message, Limits);
        NodeId type = decoder.ReadNodeId();
        ServerSession? session = ReadToken(ref decoder, out NodeId token);
        RequestHeader header = ReadRest(ref decoder, token);
        if (!decoder.Error.IsGood || type.NamespaceIndex != 0)
        {
            SendFault(requestId, header.RequestHandle, StatusCodes.BadDecodingError);
            return null;
        }

        try
        {
            var call = new ServiceCall(this, requestId, header, session);
            Dispatch(type.Number, call, ref decoder);
        }
        catch (Exception e)
        {
            SendFault(requestId, header.RequestHandle, type.Number, e);
        }

        return null;
    }

    /// <summary>The server that the channel belongs to.</summary>
    internal OpcUaServer Server => _server;

    /// <summary>Remembers a session that was created or activated here.</summary>
    internal void Attach(ServerSession session)
    {
        if (!_sessions.Contains(session))
        {
            _sessions.Add(session);
        }

        _session = session;
        if (session.IsActivated)
        {
            Admit();
        }
    }

    /// <summary>The connection.</summary>
    internal Connection Loop => Connection;

    /// <summary>Forgets a session that has ended, or that another channel has taken over. On any thread.</summary>
    internal void DetachSoon(ServerSession session) => Post(() =>
    {
        if (session.Channel != this)
        {
            _sessions.Remove(session);
            _session = _session == session ? null : _session;
            if (!_sessions.Exists(static one => one.IsActivated))
            {
                Dismiss();
            }
        }
    });

    /// <summary>Sends a response.</summary>
    internal void Send<T>(uint requestId, uint requestHandle, in T body)
        where T : struct, IServiceMessage
    {
        MessageBuffer buffer = BeginResponse();
        try
        {
            EncodeResponse(buffer, requestHandle, StatusCodes.Good, body);
        }
        catch
        {
            // Its memory counts until it is returned.
            buffer.Dispose();
            throw;
        }

        EndResponse(requestId, requestHandle, buffer);
    }

    /// <summary>Answers that the service failed as a whole.</summary>
    internal void SendFault(uint requestId, uint requestHandle, StatusCode status)
    {
        MessageBuffer buffer = BeginResponse();
        EncodeResponse(buffer, requestHandle, status, default(ServiceFault));
        EndResponse(requestId, requestHandle, buffer);
    }

    /// <summary>Answers that a service threw; the exception is logged.</summary>
    internal void SendFault(uint requestId, uint requestHandle, uint service, Exception thrown)
    {
        ServerLog.ServiceThrew(_server.Logger, thrown, service, ChannelId);
        SendFault(requestId, requestHandle, StatusCodes.BadInternalError);
    }

    /// <summary>A buffer for a response, empty. Any thread.</summary>
    internal MessageBuffer BeginResponse()
    {
        MessageBuffer buffer = Interlocked.Exchange(ref _response, null) ?? new MessageBuffer(Pool);
        buffer.Clear(KeepResponseBytes);
        buffer.AcceptsPart = SecurityMode == MessageSecurityMode.None;
        return buffer;
    }

    /// <summary>Sends a response that was encoded into a buffer of <see cref="BeginResponse"/>.</summary>
    internal void EndResponse(uint requestId, uint requestHandle, MessageBuffer buffer)
    {
        StatusCode status = Writer.Write(MessageType.Message, requestId, ref buffer);
        if (status == StatusCodes.BadEncodingLimitsExceeded || status == StatusCodes.BadTcpNotEnoughResources)
        {
            buffer.Clear(KeepResponseBytes);
            EncodeResponse(buffer, requestHandle, StatusCodes.BadResponseTooLarge, default(ServiceFault));
            Writer.Write(MessageType.Message, requestId, ref buffer);
        }

        buffer.Clear(KeepResponseBytes);
        Interlocked.Exchange(ref _response, buffer)?.Dispose();
        if (_isReleased)
        {
            DropResponse();
        }

        if (Connection.IsOnLoop)
        {
            // The burst may be that of another connection on this loop: its end sends nothing for this one.
            Connection.FlushSoon();
        }
        else
        {
            Connection.Flush();
        }
    }

    /// <summary>Writes the type and the header of a response.</summary>
    internal void EncodeHeader(ref BinaryEncoder encoder, ushort encodingId, uint requestHandle, StatusCode status)
    {
        encoder.Write(1u | ((uint)encodingId << 16));
        encoder.WriteDateTime(Now);
        encoder.Write(requestHandle);
        encoder.Write(status.Value);

        // No diagnostics, no string table, no additional header.
        encoder.Write((byte)0);
        encoder.Write(-1);
        encoder.WriteExtensionObject(null);
    }

    /// <summary>The connection has ended; a method may still answer.</summary>
    protected override void Release()
    {
        _isReleased = true;
        DropResponse();
        base.Release();
    }

    // A full fence: either the thread that keeps a buffer sees the release, or the release sees the buffer.
    private void DropResponse() => Interlocked.Exchange(ref _response, null)?.Dispose();

    private void EncodeResponse<T>(MessageBuffer buffer, uint requestHandle, StatusCode status, in T body)
        where T : struct, IServiceMessage
    {
        var encoder = new BinaryEncoder(buffer);
        EncodeHeader(ref encoder, T.EncodingId, requestHandle, status);
        encoder.WriteStructure(body);
        encoder.Complete();
    }

    // The token of the last session is compared as bytes: reading it would allocate.
    private ServerSession? ReadToken(ref BinaryDecoder decoder, out NodeId token)
    {
        if (_session is { } last && decoder.Rest.StartsWith(last.EncodedToken))
        {
            decoder.Skip(last.EncodedToken.Length);
            token = last.Token;
            return last;
        }

        token = decoder.ReadNodeId();
        return token.IsNull ? null : _server.Sessions.Find(token);
    }

    private static RequestHeader ReadRest(ref BinaryDecoder decoder, NodeId token) => new()
    {
        AuthenticationToken = token,
        Timestamp = decoder.ReadDateTime(),
        RequestHandle = decoder.Read<uint>(),
        ReturnDiagnostics = decoder.Read<uint>(),
        AuditEntryId = decoder.ReadString(),
        TimeoutHint = decoder.Read<uint>(),
        AdditionalHeader = decoder.ReadExtensionObject(),
    };

    private static void Dispatch(uint service, in ServiceCall call, ref BinaryDecoder decoder)
    {
        switch (service)
        {
            case GetEndpointsRequest.EncodingIdNumber:
                DiscoveryServices.GetEndpoints(call, ref decoder);
                return;
            case FindServersRequest.EncodingIdNumber:
                DiscoveryServices.FindServers(call, ref decoder);
                return;
            case CreateSessionRequest.EncodingIdNumber:
                SessionServices.Create(call, ref decoder);
                return;
            case ActivateSessionRequest.EncodingIdNumber:
                SessionServices.Activate(call, ref decoder);
                return;
            case CloseSessionRequest.EncodingIdNumber:
                SessionServices.Close(call, ref decoder);
                return;
        }

        // Always counts as a sign of life. The answer that a service does not exist needs no session.
        StatusCode? refused = call.CheckSession();
        Service? serve = service < (uint)Services.Length ? Services[service] : null;
        if (serve is null || refused is not null)
        {
            call.Fault(serve is null ? StatusCodes.BadServiceUnsupported : refused!.Value);
            return;
        }

        serve(call, ref decoder);
    }

    private static Service?[] ListServices()
    {
        var services = new Service?[MaxRequests];
        services[ReadRequest.EncodingIdNumber] = AttributeServices.Read;
        services[WriteRequest.EncodingIdNumber] = AttributeServices.Write;
        services[CallRequest.EncodingIdNumber] = MethodServices.Call;
        services[TransferSubscriptionsRequest.EncodingIdNumber] = SubscriptionTransfer.Transfer;
        services[CancelRequest.EncodingIdNumber] = Locked(SessionServices.Cancel);
        services[BrowseRequest.EncodingIdNumber] = Locked(ViewServices.Browse);
        services[BrowseNextRequest.EncodingIdNumber] = Locked(ViewServices.BrowseNext);
        services[TranslateBrowsePathsRequest.EncodingIdNumber] = Locked(ViewServices.Translate);
        services[RegisterNodesRequest.EncodingIdNumber] = Locked(ViewServices.Register);
        services[UnregisterNodesRequest.EncodingIdNumber] = Locked(ViewServices.Unregister);
        services[PublishRequest.EncodingIdNumber] = Locked(SubscriptionServices.Publish);
        services[CreateSubscriptionRequest.EncodingIdNumber] = Locked(SubscriptionServices.Create);
        services[ModifySubscriptionRequest.EncodingIdNumber] = Locked(SubscriptionServices.Modify);
        services[SetPublishingModeRequest.EncodingIdNumber] = Locked(SubscriptionServices.SetPublishingMode);
        services[RepublishRequest.EncodingIdNumber] = Locked(SubscriptionServices.Republish);
        services[DeleteSubscriptionsRequest.EncodingIdNumber] = Locked(SubscriptionServices.Delete);
        services[CreateMonitoredItemsRequest.EncodingIdNumber] = Locked(MonitoredItemServices.Create);
        services[ModifyMonitoredItemsRequest.EncodingIdNumber] = Locked(MonitoredItemServices.Modify);
        services[SetMonitoringModeRequest.EncodingIdNumber] = Locked(MonitoredItemServices.SetMode);
        services[SetTriggeringRequest.EncodingIdNumber] = Locked(MonitoredItemServices.SetTriggering);
        services[DeleteMonitoredItemsRequest.EncodingIdNumber] = Locked(MonitoredItemServices.Delete);
        return services;
    }

    // Services that use the session's state. Another channel may take over the session at any time.
    private static Service Locked(Service serve) => (in ServiceCall call, ref BinaryDecoder decoder) =>
    {
        lock (call.Session!.Gate)
        {
            if (call.Session.Channel != call.Channel)
            {
                call.Fault(StatusCodes.BadSecureChannelIdInvalid);
                return;
            }

            serve(call, ref decoder);
        }
    };
}
