using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <content>Publishing (OPC 10000-4, 5.14.1.2): keep-alive and lifetime, and the messages.</content>
internal sealed partial class Subscription
{
    // A message that grows beyond this is sent, and another one follows.
    private const int MaxNotificationBytes = 1024 * 1024;

    // More than the overhead of a response with one number and one result of an acknowledgement.
    private const int ResponseBytes = 256;

    private readonly Queue<MonitoredItem> _ready = new();
    private readonly SentMessages _sent;
    private uint _cyclesWithoutMessage;
    private uint _cyclesWithoutRequest;
    private uint _nextNumber = 1;

    /// <summary>Messages that were not acknowledged.</summary>
    public SentMessages Sent => _sent;

    /// <summary>The number of the next message; 0 is never one.</summary>
    public uint NextNumber => _nextNumber;

    /// <summary>The client has shown that it still wants the subscription.</summary>
    public void ResetLifetime() => _cyclesWithoutRequest = 0;

    /// <summary>Answers a Publish request with notifications, or a keep-alive. Returns whether there is more.</summary>
    public bool Publish(in PublishCall call)
    {
        DateTime now = Time.GetUtcNow().UtcDateTime;
        bool hasData = HasNotifications();
        uint number = _nextNumber;
        var message = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        var encoder = new BinaryEncoder(message);
        if (hasData)
        {
            int others = ResponseBytes + (sizeof(uint) * (_sent.Count + (call.Results?.Length ?? 0)));
            EncodeData(ref encoder, number, now, call.Channel.LargestResponse / 2, call.Channel.LargestResponse - others);
            _nextNumber = number == uint.MaxValue ? 1 : number + 1;
        }
        else
        {
            // The number of the next message, which stays the next one.
            encoder.WriteStructure(new NotificationMessage { SequenceNumber = number, PublishTime = now, NotificationData = [] });
            encoder.Complete();
        }

        _cyclesWithoutMessage = 0;
        _cyclesWithoutRequest = 0;
        if (hasData)
        {
            _owner.TrimSent(message.Capacity);
            _sent.Add(number, now, message);
        }

        bool hasMore = HasNotifications();
        call.Reply(Id, _sent.Numbers, hasMore, message.Written);
        if (!hasData)
        {
            message.Dispose();
        }

        return hasMore;
    }

    // A cycle has nothing left for another call.
    private bool OnCycle(long now)
    {
        Collect(now);
        if (_owner.HasRequest())
        {
            _cyclesWithoutRequest = 0;
        }
        else if (++_cyclesWithoutRequest >= _terms.LifetimeCount)
        {
            _owner.Expire(this);
            return false;
        }

        _cyclesWithoutMessage++;
        if (HasNotifications() || _cyclesWithoutMessage >= _terms.KeepAliveCount)
        {
            _owner.PublishSoon(this);
        }

        return false;
    }

    // Only marked items are examined: most have nothing to report.
    private void Collect(long now)
    {
        for (int left = _marked.Count; left > 0 && _marked.TryDequeue(out MonitoredItem? item); left--)
        {
            int count = item.Collect(now, out bool hasSampled);
            if (item.Mode == MonitoringMode.Reporting && count != 0)
            {
                AddReady(item);
            }

            if (hasSampled && item.Links is not null)
            {
                Trigger(item, now);
            }
        }
    }

    // Items that are only sampled are reported once, with all of their values.
    private void Trigger(MonitoredItem triggering, long now)
    {
        foreach (MonitoredItem linked in triggering.Links!)
        {
            if (linked.Mode == MonitoringMode.Sampling && linked.CollectTriggered(now) != 0)
            {
                AddReady(linked);
            }
        }
    }

    private void AddReady(MonitoredItem item)
    {
        if (!item.IsReady)
        {
            item.IsReady = true;
            _ready.Enqueue(item);
            TrimReady();
        }
    }

    // Without cycles or messages, the lists would keep every item that was ever in them: removed items, and repeatedly those whose mode was
    // changed.
    private void TrimQueues()
    {
        if (_marked.Count > MostQueued)
        {
            for (int left = _marked.Count; left > 0 && _marked.TryDequeue(out MonitoredItem? item); left--)
            {
                if (FindItem(item.Id) == item)
                {
                    _marked.Enqueue(item);
                }
            }
        }

        TrimReady();
    }

    private void TrimReady()
    {
        if (_ready.Count > MostQueued)
        {
            MonitoredItem[] ready = [.. _ready.Where(static item => item.IsReady).Distinct()];
            _ready.Clear();
            Array.ForEach(ready, _ready.Enqueue);
        }
    }

    private int MostQueued => (2 * _items.Count) + 1024;

    private bool HasNotifications()
    {
        if (!IsPublishing)
        {
            return false;
        }

        // Some may have been disabled or removed since.
        while (_ready.TryPeek(out MonitoredItem? item))
        {
            if (item.IsReady && item.Count != 0)
            {
                return true;
            }

            item.IsReady = false;
            _ready.Dequeue();
        }

        return false;
    }

    private void EncodeData(ref BinaryEncoder encoder, uint number, DateTime now, int enoughBytes, int maxBytes)
    {
        encoder.Write(number);
        encoder.WriteDateTime(now);
        encoder.Write(1);
        encoder.WriteNodeId(new NodeId(0, DataChangeNotification.EncodingId));
        encoder.Write((byte)ExtensionObjectEncoding.Binary);

        // The length of the body and the number of values are known at the end.
        var body = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        var values = new BinaryEncoder(body);
        int count = EncodeValues(ref values, body, Math.Min(MaxNotificationBytes, enoughBytes), maxBytes);
        values.Write(-1);
        values.Complete();
        encoder.Write(sizeof(int) + body.Length);
        encoder.Write(count);
        encoder.WriteBytes(body.Written);
        encoder.Complete();
        body.Dispose();
    }

    // The value that reaches the limit is still in the message. A value that does not fit with others waits for the next message.
    private int EncodeValues(ref BinaryEncoder encoder, MessageBuffer body, int enoughBytes, int maxBytes)
    {
        int count = 0;
        while (_ready.TryPeek(out MonitoredItem? item))
        {
            // Values that arrive in the meantime wait for the next cycle.
            for (int left = item.IsReady ? item.Count : 0; left > 0 && item.TryTake(out DataValue value); left--)
            {
                long before = encoder.Length;
                encoder.Write(item.ClientHandle);
                encoder.WriteDataValue(value);
                if (encoder.Length > maxBytes && count != 0)
                {
                    encoder.Complete();
                    body.Truncate((int)before);
                    item.PutBack(value);
                    return count;
                }

                if (++count >= _terms.MaxNotifications || encoder.Length >= enoughBytes)
                {
                    return count;
                }
            }

            item.IsReady = false;
            _ready.Dequeue();
        }

        return count;
    }
}
