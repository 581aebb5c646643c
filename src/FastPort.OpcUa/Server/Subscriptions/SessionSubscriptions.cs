using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The subscriptions of a session, and the Publish requests that wait for them (OPC 10000-4, 5.14.1). Belongs to the loop of the session's
/// channel, and ends with it.
/// </summary>
internal sealed class SessionSubscriptions(OpcUaServer server, ServerSession session)
{
    // With more bytes waiting to be sent the client is too slow: what there is to tell stays in the queues.
    private const long MaxPendingBytes = 1024 * 1024;

    private readonly Dictionary<uint, Subscription> _subscriptions = [];
    private readonly Queue<PublishCall> _requests = new();

    // Subscriptions that have something to tell, in the order in which they had, and ends that were not told.
    private readonly List<Subscription> _late = [];
    private readonly Queue<(uint Id, uint Number)> _ends = new();

    // Sum of the queue sizes of all items.
    private long _queueSizes;

    /// <summary>The session's channel; only for calls on its loop.</summary>
    public ServerChannel Channel => session.Channel!;

    /// <summary>Number of monitored items of all subscriptions.</summary>
    public int ItemCount { get; private set; }

    public Subscription? Find(uint id) => _subscriptions.GetValueOrDefault(id);

    /// <summary>Creates a subscription; null if there are too many.</summary>
    public Subscription? Create(in SubscriptionTerms terms, bool isPublishing)
    {
        if (_subscriptions.Count >= server.Options.MaxSubscriptionsPerSession)
        {
            return null;
        }

        var subscription = new Subscription(server, this, server.NextSubscriptionId(), terms, isPublishing);
        _subscriptions.Add(subscription.Id, subscription);
        return subscription;
    }

    public bool Delete(uint id)
    {
        if (!_subscriptions.Remove(id, out Subscription? subscription))
        {
            return false;
        }

        _late.Remove(subscription);
        subscription.Close();
        return true;
    }

    public void OnItemAdded() => ItemCount++;

    public void OnItemRemoved(MonitoredItem item)
    {
        ItemCount--;
        _queueSizes -= item.QueueSize;
    }

    /// <summary>Changes the queue size of an item: to what its client wishes, or what is left; at least 1. Returns it.</summary>
    public int ReserveQueue(int before, uint wish)
    {
        long others = _queueSizes - before;
        long most = Math.Min(server.Options.MaxQueueSize, server.Options.MaxQueuedValuesPerSession - others);
        int size = (int)Math.Clamp(wish, 1, Math.Max(most, 1));
        _queueSizes = others + size;
        return size;
    }

    /// <summary>Lets a request wait until a subscription has something to tell.</summary>
    public void Publish(in ServiceCall call, SubscriptionAcknowledgement[]? acknowledgements)
    {
        StatusCode[]? results = acknowledgements is null ? null : [.. acknowledgements.Select(Acknowledge)];
        if (_requests.Count >= Math.Max(server.Options.MaxPublishRequestsPerSession, 1))
        {
            _requests.Dequeue().Fault(Channel, StatusCodes.BadTooManyPublishRequests);
        }

        long until = call.Header.TimeoutHint == 0
            ? long.MaxValue
            : server.Time.GetTimestamp() + (long)(call.Header.TimeoutHint / 1000.0 * server.Time.TimestampFrequency);
        _requests.Enqueue(new PublishCall(call.RequestId, call.Header.RequestHandle, until, results));
        Serve();
    }

    /// <summary>A subscription has something to tell, now or when the next Publish request comes.</summary>
    public void PublishSoon(Subscription subscription)
    {
        if (!_late.Contains(subscription))
        {
            _late.Add(subscription);
        }

        Serve();
    }

    /// <summary>Whether a request waits. Those that the client has given up are answered.</summary>
    public bool HasRequest()
    {
        while (_requests.TryPeek(out PublishCall call))
        {
            if (call.Until > server.Time.GetTimestamp())
            {
                return true;
            }

            _requests.Dequeue().Fault(Channel, StatusCodes.BadTimeout);
        }

        return false;
    }

    /// <summary>A subscription's client has sent no Publish for too long. The next one gets to know it.</summary>
    public void Expire(Subscription subscription)
    {
        uint number = subscription.NextNumber;
        Delete(subscription.Id);
        if (_ends.Count < server.Options.MaxSubscriptionsPerSession)
        {
            _ends.Enqueue((subscription.Id, number));
        }

        Serve();
    }

    /// <summary>Ends the session if its client has sent nothing for longer than was agreed on.</summary>
    public bool EndSessionIfExpired()
    {
        if (server.Time.GetElapsedTime(session.LastRequest) <= session.Timeout)
        {
            return false;
        }

        server.Sessions.Remove(session);
        Channel.Detach(session);
        return true;
    }

    /// <summary>Answers the requests for which there is something to tell, and those for which there never will be.</summary>
    public void Serve()
    {
        while (HasRequest() && Channel.Loop.PendingBytes <= MaxPendingBytes)
        {
            if (_ends.TryDequeue(out (uint Id, uint Number) end))
            {
                TellEnd(_requests.Dequeue(), end.Id, end.Number);
            }
            else if (TakeLate() is { } subscription)
            {
                if (subscription.Publish(_requests.Dequeue()))
                {
                    _late.Add(subscription);
                }
            }
            else
            {
                break;
            }
        }

        while (_subscriptions.Count == 0 && _ends.Count == 0 && _requests.TryDequeue(out PublishCall call))
        {
            call.Fault(Channel, StatusCodes.BadNoSubscription);
        }
    }

    /// <summary>The session ends.</summary>
    /// <param name="tells">Whether requests that wait are answered.</param>
    public void Close(bool tells)
    {
        foreach (Subscription subscription in _subscriptions.Values)
        {
            subscription.Close();
        }

        _subscriptions.Clear();
        _late.Clear();
        _ends.Clear();
        while (_requests.TryDequeue(out PublishCall call))
        {
            if (tells)
            {
                call.Fault(Channel, StatusCodes.BadSessionClosed);
            }
        }
    }

    private StatusCode Acknowledge(SubscriptionAcknowledgement acknowledgement) =>
        Find(acknowledgement.SubscriptionId) is not { } subscription ? StatusCodes.BadSubscriptionIdInvalid
        : subscription.Sent.Acknowledge(acknowledgement.SequenceNumber) ? StatusCodes.Good
        : StatusCodes.BadSequenceNumberUnknown;

    // The highest priority first, and of these the one that waits longest.
    private Subscription? TakeLate()
    {
        Subscription? next = _late.MaxBy(static subscription => subscription.Priority);
        if (next is not null)
        {
            _late.Remove(next);
        }

        return next;
    }

    private void TellEnd(in PublishCall call, uint id, uint number)
    {
        using var body = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        var encoder = new BinaryEncoder(body);
        encoder.WriteStructure(new StatusChangeNotification { Status = StatusCodes.BadTimeout });
        encoder.Complete();
        var type = new ExpandedNodeId(new NodeId(0, StatusChangeNotification.EncodingId));
        var message = new NotificationMessage
        {
            SequenceNumber = number,
            PublishTime = server.Time.GetUtcNow().UtcDateTime,
            NotificationData = [new ExtensionObject(type, ExtensionObjectEncoding.Binary, body.Written.ToArray())],
        };
        using var buffer = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        var whole = new BinaryEncoder(buffer);
        whole.WriteStructure(message);
        whole.Complete();
        call.Reply(Channel, id, [], hasMore: false, buffer.Written);
    }
}
