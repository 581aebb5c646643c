using FastPort.Tags.Wire;

namespace FastPort.Tags.Serving;

/// <summary>
/// A session's subscription: samples wait here until an update may be sent. Its own gate guards them. Feeds take it while they hold their
/// source's, so nothing is sent under it: one thread at a time takes the sender's role, and updates leave in the order of their numbers.
/// </summary>
internal sealed class ServedSubscription : IDisposable
{
    // Without the client's acknowledgment no more updates than this are sent.
    private const ulong MaxUnacknowledged = 4;

    // An update has no more than this; but a larger value has a separate update.
    private const int UpdateBytes = 256 * 1024;

    private readonly Lock _gate = new();
    private readonly Session _session;
    private readonly TimeSpan _interval;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private readonly WaitingSamples _waiting;

    // The update that is sent next: the sender's alone.
    private readonly HandleRows _next = new();

    // The number of the last update, which the client may acknowledge before its send has returned.
    private ulong _numbered;
    private ulong _acknowledged;
    private ulong _lost;
    private long _sentAt;
    private bool _isActive;
    private bool _isClosed;

    // Whether the sender's role is taken: by a thread that sends, or by the wait for room in the session. A thread that finds it taken
    // sends nothing: the holder of the role checks again when it releases the role.
    private bool _isSending;

    public ServedSubscription(Session session, uint id, TimeSpan interval, int queueSize, int maxQueueBytes, TimeProvider time)
    {
        _session = session;
        _interval = interval;
        _waiting = new WaitingSamples(queueSize, maxQueueBytes);
        _time = time;
        _timer = NoContext.CreateTimer(
            time, static s => ((ServedSubscription)s!).Flush(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Id = id;
    }

    public uint Id { get; }

    public IReadOnlyList<SubscriptionItem> Items { get; set; } = [];

    /// <summary>Number of tags that the request had.</summary>
    public int Tags { get; init; }

    /// <summary>A sample of an item. Under the gate of the tag's source; then <see cref="Flush"/> without it.</summary>
    public void Add(SubscriptionItem item, in TagSample sample)
    {
        if (item.IsEnded)
        {
            return;
        }

        lock (_gate)
        {
            if (!_isClosed && _waiting.Add(item, sample) is not 0 and var dropped)
            {
                _lost += (uint)dropped;
                item.Tag.Owner.Telemetry.OnDropped(dropped);
            }
        }
    }

    /// <summary>
    /// The last sample of an item's tag. A tag that its feed refuses has the status of the refusal, and one that could not be read when the
    /// feed had lost changes that of the read: its known value must not look like the current one. Under the gate of the tag's source.
    /// </summary>
    public void AddPresent(SubscriptionItem item)
    {
        var present = new TagSamples();
        item.Tag.AddTo(present);
        TagStatus? reason = !item.Tag.Owner.IsConnected ? null : item.Member switch
        {
            { IsAdded: false, Status: { IsBad: true } refusal } => refusal,
            { IsReported: false, Tag: { HasFailed: true, Failure: var failure } } => failure,
            _ => null,
        };
        Add(item, reason is { } status ? present[0] with { Status = status } : present[0]);
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
            _acknowledged = Math.Clamp(number, _acknowledged, _numbered);
        }

        Flush();
    }

    /// <summary>Sends waiting samples, if an update may be sent now.</summary>
    public void Flush()
    {
        while (TryBegin(out ulong number, out ulong lost))
        {
            var body = new TagUpdateBody(Id, number, _next.Handles, _next.Samples, lost);
            if (!TryEnd(_session.TrySend(TagMessageType.Update, body), lost))
            {
                return;
            }
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _isClosed = true;
            _waiting.Clear();
        }

        _timer.Dispose();
    }

    // Takes the sender's role and fills the update, if there is something to send and it may be sent now.
    private bool TryBegin(out ulong number, out ulong lost)
    {
        lock (_gate)
        {
            number = _numbered;
            lost = _lost;

            // An update for which there was no room is sent first.
            if (!_isActive || _isClosed || _isSending
                || (_next.Count == 0 && (_waiting.Count == 0 || _numbered - _acknowledged >= MaxUnacknowledged)))
            {
                return false;
            }

            TimeSpan early = _numbered == 0 ? TimeSpan.Zero : _interval - _time.GetElapsedTime(_sentAt);
            if (early > TimeSpan.Zero)
            {
                // A timer counts whole milliseconds.
                _timer.Change(TimeSpan.FromMilliseconds(Math.Ceiling(early.TotalMilliseconds)), Timeout.InfiniteTimeSpan);
                return false;
            }

            if (_next.Count == 0)
            {
                _waiting.MoveTo(_next, _session.MaxBodyBytes, UpdateBytes);
                number = ++_numbered;
            }

            _isSending = true;
            return true;
        }
    }

    // Releases the role, unless the session accepts nothing now: then it passes to the wait for room. False if continuing is pointless.
    private bool TryEnd(SendStatus status, ulong lost)
    {
        if (status is SendStatus.Full or SendStatus.Dropped)
        {
            // Taken samples stay, and are sent when there is room.
            _ = _session.WhenWritableAsync().ContinueWith(
                static (_, s) => ((ServedSubscription)s!).OnWritable(),
                this,
                CancellationToken.None,
                TaskContinuationOptions.None,
                TaskScheduler.Default);
            return false;
        }

        _next.Clear();
        lock (_gate)
        {
            _isSending = false;
            _lost -= lost;
            _sentAt = _time.GetTimestamp();
        }

        return status == SendStatus.Queued;
    }

    private void OnWritable()
    {
        lock (_gate)
        {
            _isSending = false;
        }

        Flush();
    }
}
