using FastPort.Connections;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The subscriptions of a session, and the Publish requests that wait for them (OPC 10000-4, 5.14.1). Under the session's gate.
/// </summary>
internal sealed class SessionSubscriptions(OpcUaServer server, ServerSession session)
{
    // With more bytes waiting to be sent, the client is too slow: notifications stay in the queues.
    private const long MaxPendingBytes = 1024 * 1024;

    private readonly Dictionary<uint, Subscription> _subscriptions = [];
    private readonly Queue<PublishCall> _requests = new();

    // Subscriptions with something to report, in the order in which they became ready, and unreported ends.
    private readonly List<Subscription> _late = [];
    private readonly Queue<(uint Id, uint Number, StatusCode Status)> _ends = new();

    // Sum of the queue sizes of all items.
    private long _queueSizes;

    // Memory of the messages that are kept for Republish.
    private long _sentBytes;

    // The memory of the items' values that are parts or large. On any thread.
    private long _heldBytes;

    public ServerSession Session => session;

    public int Count => _subscriptions.Count;

    /// <summary>Number of monitored items of all subscriptions.</summary>
    public int ItemCount { get; private set; }

    /// <summary>Number of links between monitored items of all subscriptions.</summary>
    public int LinkCount { get; set; }

    public Subscription? Find(uint id) => _subscriptions.GetValueOrDefault(id);

    /// <summary>Whether another session has a subscription of this id.</summary>
    public bool IsOfOther(uint id) => Find(id) is null && server.Sessions.Subscriptions.ContainsKey(id);

    /// <summary>Creates a subscription; null if there are too many.</summary>
    public Subscription? Create(in SubscriptionTerms terms, bool isPublishing)
    {
        if (_subscriptions.Count >= server.Options.MaxSubscriptionsPerSession)
        {
            return null;
        }

        var subscription = new Subscription(server, this, server.NextSubscriptionId(), terms, isPublishing);
        _subscriptions.Add(subscription.Id, subscription);
        server.Sessions.Subscriptions[subscription.Id] = subscription;
        return subscription;
    }

    /// <summary>
    /// Takes over a subscription of another session of the same user (OPC 10000-4, 5.14.7), whose client is notified; under both gates.
    /// </summary>
    public StatusCode Take(Subscription subscription, SessionSubscriptions from)
    {
        int items = subscription.ItemCount;
        int links = subscription.LinkCount;
        long queueSizes = subscription.QueueSizes;
        if (_subscriptions.Count >= server.Options.MaxSubscriptionsPerSession
            || ItemCount + items > server.Options.MaxMonitoredItemsPerSession
            || LinkCount + links > server.Options.MaxMonitoredItemsPerSession
            || _queueSizes + queueSizes > server.Options.MaxQueuedValuesPerSession
            || !HasRoomFor(subscription.HeldBytes))
        {
            return StatusCodes.BadTooManySubscriptions;
        }

        from.Forget(subscription, StatusCodes.GoodSubscriptionTransferred);
        from.ItemCount -= items;
        from.LinkCount -= links;
        from._queueSizes -= queueSizes;
        ItemCount += items;
        LinkCount += links;
        _queueSizes += queueSizes;
        _subscriptions.Add(subscription.Id, subscription);
        subscription.MoveTo(this);

        // Including the memory of its messages, which would reduce that of the others.
        from.Serve();
        return StatusCodes.Good;
    }

    public bool Delete(uint id)
    {
        if (Find(id) is not { } subscription)
        {
            return false;
        }

        subscription.Close();
        Forget(subscription);
        return true;
    }

    public void OnItemAdded() => ItemCount++;

    public void OnItemRemoved(MonitoredItem item)
    {
        ItemCount--;
        _queueSizes -= item.QueueSize;
    }

    /// <summary>Changes the queue size of an item: to the requested size, or the rest of the limit; at least 1. Returns it.</summary>
    public int ReserveQueue(int before, uint wish)
    {
        long others = _queueSizes - before;
        long most = Math.Min(server.Options.MaxQueueSize, server.Options.MaxQueuedValuesPerSession - others);
        int size = (int)Math.Clamp(wish, 1, Math.Max(most, 1));
        _queueSizes = others + size;
        return size;
    }

    /// <summary>The values of an item hold more bytes, or fewer. On any thread.</summary>
    public void Charge(long bytes) => Interlocked.Add(ref _heldBytes, bytes);

    /// <summary>Whether more may be held: all bytes other than an item's own are within the limit. On any thread.</summary>
    public bool HasRoomBeside(long own) => Volatile.Read(ref _heldBytes) - own <= server.Options.MaxQueuedBytesPerSession;

    /// <summary>The memory of messages that are kept for Republish has grown, or shrunk.</summary>
    public void ChargeSent(long bytes) => _sentBytes += bytes;

    /// <summary>
    /// Drops the oldest messages of all subscriptions that are kept for Republish, until they are within the limit for values of monitored
    /// items.
    /// </summary>
    /// <param name="coming">Bytes to be added.</param>
    public void TrimSent(long coming = 0)
    {
        while (_sentBytes + coming > server.Options.MaxQueuedBytesPerSession
            && _subscriptions.Values.Where(static one => one.Sent.Count != 0).MinBy(static one => one.Sent.OldestSentAt) is { } oldest)
        {
            oldest.Sent.RemoveOldest();
        }
    }

    // Whether a subscription with this many bytes may be transferred. The first is always allowed: a session that replaces another one gets
    // it.
    private bool HasRoomFor(long bytes) =>
        bytes == 0 || Volatile.Read(ref _heldBytes) == 0 || HasRoomBeside(-bytes);

    /// <summary>Lets a request wait until a subscription has something to report.</summary>
    public void Publish(in ServiceCall call, SubscriptionAcknowledgement[]? acknowledgements)
    {
        StatusCode[]? results = acknowledgements is null ? null : [.. acknowledgements.Select(Acknowledge)];
        if (_requests.Count >= Math.Max(server.Options.MaxPublishRequestsPerSession, 1))
        {
            _requests.Dequeue().Fault(StatusCodes.BadTooManyPublishRequests);
        }

        long until = call.Header.TimeoutHint == 0
            ? long.MaxValue
            : server.Time.GetTimestamp() + (long)(call.Header.TimeoutHint / 1000.0 * server.Time.TimestampFrequency);
        _requests.Enqueue(new PublishCall(call.Channel, call.RequestId, call.Header.RequestHandle, until, results));
        Serve();
    }

    /// <summary>A subscription has something to report, now or when the next Publish request comes.</summary>
    public void PublishSoon(Subscription subscription)
    {
        if (!_late.Contains(subscription))
        {
            _late.Add(subscription);
        }

        Serve();
    }

    /// <summary>Whether a request waits. Abandoned ones are answered.</summary>
    public bool HasRequest()
    {
        while (_requests.TryPeek(out PublishCall call))
        {
            if (call.Until > server.Time.GetTimestamp())
            {
                return true;
            }

            _requests.Dequeue().Fault(StatusCodes.BadTimeout);
        }

        return false;
    }

    /// <summary>A subscription's client has sent no Publish for too long. Its next request reports that.</summary>
    public void Expire(Subscription subscription)
    {
        subscription.Close();
        Forget(subscription, StatusCodes.BadTimeout);
        Serve();
    }

    /// <summary>Answers the requests for which there is a notification, and those for which there never will be.</summary>
    public void Serve()
    {
        while (HasRequest())
        {
            Connection connection = _requests.Peek().Channel.Loop;
            if (connection.PendingBytes > MaxPendingBytes)
            {
                // The channel serves its sessions then.
                connection.NotifyWhenDrained(MaxPendingBytes / 2);
                break;
            }

            if (_ends.TryDequeue(out (uint Id, uint Number, StatusCode Status) end))
            {
                TellEnd(_requests.Dequeue(), end.Id, end.Number, end.Status);
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
            call.Fault(StatusCodes.BadNoSubscription);
        }
    }

    /// <summary>Answers the requests that wait: their channel or the session has ended. Returns how many there were.</summary>
    /// <param name="status">Why.</param>
    /// <param name="handle">The handle of the requests that their client cancels; null for all.</param>
    public int DropRequests(StatusCode status, uint? handle = null)
    {
        int dropped = 0;
        for (int left = _requests.Count; left > 0; left--)
        {
            PublishCall call = _requests.Dequeue();
            if (handle is not null && call.RequestHandle != handle)
            {
                _requests.Enqueue(call);
                continue;
            }

            call.Fault(status);
            dropped++;
        }

        return dropped;
    }

    /// <summary>Ends all subscriptions.</summary>
    public void Clear()
    {
        foreach (Subscription subscription in _subscriptions.Values)
        {
            subscription.Close();
        }

        _subscriptions.Clear();
        _late.Clear();
        _ends.Clear();
    }

    // A subscription has ended or belongs to another session. Its client gets the reason, if there is one.
    private void Forget(Subscription subscription, StatusCode? tells = null)
    {
        _subscriptions.Remove(subscription.Id);
        _late.Remove(subscription);
        if (tells is { } status && !session.IsEnded && _ends.Count < server.Options.MaxSubscriptionsPerSession)
        {
            _ends.Enqueue((subscription.Id, subscription.NextNumber, status));
        }

        if (_subscriptions.Count == 0)
        {
            session.OnSubscriptionsGone();
        }
    }

    private StatusCode Acknowledge(SubscriptionAcknowledgement acknowledgement) =>
        Find(acknowledgement.SubscriptionId) is not { } subscription ? StatusCodes.BadSubscriptionIdInvalid
        : subscription.Sent.Acknowledge(acknowledgement.SequenceNumber) ? StatusCodes.Good
        : StatusCodes.BadSequenceNumberUnknown;

    // The highest priority first, and of these the longest waiting one.
    private Subscription? TakeLate()
    {
        Subscription? next = _late.MaxBy(static subscription => subscription.Priority);
        if (next is not null)
        {
            _late.Remove(next);
        }

        return next;
    }

    private void TellEnd(in PublishCall call, uint id, uint number, StatusCode status)
    {
        using var body = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        var encoder = new BinaryEncoder(body);
        encoder.WriteStructure(new StatusChangeNotification { Status = status });
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
        call.Reply(id, [], hasMore: false, buffer.Written);
    }
}
