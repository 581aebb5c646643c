using FastPort.Protocol.Tags.Wire;
using FastPort.Sessions;

namespace FastPort.Protocol.Tags.Serving;

/// <summary>
/// A session's subscription: samples wait here until an update may be sent. Its own gate guards them, and updates are sent under it, so
/// that they leave in the order of their numbers.
/// </summary>
internal sealed class ServedSubscription : IDisposable
{
    // Without the client's acknowledgment no more updates than this are sent.
    private const ulong MaxUnacknowledged = 4;

    // An update has no more than this; but a larger value has an update of its own.
    private const int UpdateBytes = 256 * 1024;

    private readonly Lock _gate = new();
    private readonly Session _session;
    private readonly TimeSpan _interval;
    private readonly int _queueSize;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;

    // An entry for each sample that waits.
    private readonly Queue<SubscriptionItem> _order = new();
    private readonly TagSamples _one = new();

    // The update that is sent next.
    private readonly HandleRows _next = new();
    private ulong _sent;
    private ulong _acknowledged;
    private ulong _lost;
    private long _sentAt;
    private bool _isActive;
    private bool _isClosed;

    // The session has no room: its end of that is waited for once, however often there is something to send meanwhile.
    private bool _isFull;

    public ServedSubscription(Session session, uint id, TimeSpan interval, int queueSize, TimeProvider time)
    {
        _session = session;
        _interval = interval;
        _queueSize = queueSize;
        _time = time;
        _timer = time.CreateTimer(static s => ((ServedSubscription)s!).Flush(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Id = id;
    }

    public uint Id { get; }

    public IReadOnlyList<SubscriptionItem> Items { get; set; } = [];

    /// <summary>Number of tags that the request had.</summary>
    public int Tags { get; init; }

    /// <summary>A sample of an item. Under the gate of the tag's source; then <see cref="Flush"/> without it.</summary>
    public void Add(SubscriptionItem item, in TagSample sample)
    {
        lock (_gate)
        {
            Enqueue(item, sample);
        }
    }

    /// <summary>The last sample of an item's tag. Under the gate of the tag's source.</summary>
    public void AddPresent(SubscriptionItem item)
    {
        var present = new TagSamples();
        item.Tag.AddTo(present);
        Add(item, present[0]);
    }

    /// <summary>The reply to the request has been written: updates may follow it.</summary>
    public void Activate()
    {
        lock (_gate)
        {
            _isActive = true;
        }

        Flush();
    }

    /// <summary>The client has received the updates up to a number.</summary>
    public void Acknowledge(ulong number)
    {
        lock (_gate)
        {
            _acknowledged = Math.Clamp(number, _acknowledged, _sent);
        }

        Flush();
    }

    /// <summary>Sends what waits, if an update may be sent now.</summary>
    public void Flush()
    {
        lock (_gate)
        {
            while (_isActive && !_isClosed && !_isFull && _order.Count + _next.Count != 0 && _sent - _acknowledged < MaxUnacknowledged)
            {
                TimeSpan early = _sent == 0 ? TimeSpan.Zero : _interval - _time.GetElapsedTime(_sentAt);
                if (early > TimeSpan.Zero)
                {
                    // A timer counts whole milliseconds.
                    _timer.Change(TimeSpan.FromMilliseconds(Math.Ceiling(early.TotalMilliseconds)), Timeout.InfiniteTimeSpan);
                    return;
                }

                if (!Send())
                {
                    return;
                }
            }
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _isClosed = true;
            _order.Clear();
        }

        _timer.Dispose();
    }

    private void Enqueue(SubscriptionItem item, in TagSample sample)
    {
        if (_isClosed)
        {
            return;
        }

        if (item.Waiting.Count < _queueSize)
        {
            _order.Enqueue(item);
        }
        else
        {
            item.Waiting.Dequeue();
            if (_queueSize > 1)
            {
                _lost++;
                item.Tag.Owner.Telemetry.OnDropped();
            }
        }

        item.Waiting.Enqueue(sample);
    }

    // False if the session takes nothing now.
    private bool Send()
    {
        if (_next.Count == 0)
        {
            while (_order.TryPeek(out SubscriptionItem? item) && TryFill(item))
            {
                _order.Dequeue();
            }
        }

        var body = new TagUpdateBody(Id, _sent + 1, _next.Handles, _next.Samples, _lost);
        SendStatus status = _session.TrySend(TagMessageType.Update, body);
        if (status is SendStatus.Full or SendStatus.Dropped)
        {
            // What was taken stays, and is sent when there is room.
            _isFull = true;
            _ = _session.WhenWritableAsync().ContinueWith(
                static (_, s) => ((ServedSubscription)s!).OnWritable(),
                this,
                CancellationToken.None,
                TaskContinuationOptions.None,
                TaskScheduler.Default);
            return false;
        }

        _next.Clear();
        _sent++;
        _lost = 0;
        _sentAt = _time.GetTimestamp();
        return status == SendStatus.Queued;
    }

    private void OnWritable()
    {
        lock (_gate)
        {
            _isFull = false;
        }

        Flush();
    }

    private bool TryFill(SubscriptionItem item)
    {
        _one.Clear();
        _one.Add(item.Waiting.Peek());
        if (!_next.TryAdd(item.Tag.Id, _one, 0, _session.MaxBodyBytes, UpdateBytes))
        {
            return false;
        }

        item.Waiting.Dequeue();
        return true;
    }
}
