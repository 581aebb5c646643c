using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Server;

/// <summary>
/// An attribute that a subscription watches (OPC 10000-4, 5.13.1). A variable passes on each new value, on any thread: the item's lock
/// guards its processing. The session's gate guards everything else.
/// <para>
/// Samples need no timer: the value of a sampling interval is the last one that was set in it, and it is taken when a later value comes or
/// the subscription publishes, whichever is first. Variables that are read by a callback are polled instead.
/// </para>
/// </summary>
internal sealed partial class MonitoredItem(
    Subscription subscription, uint id, Node node, AttributeId attribute, NumericRange? range)
{
    // Values created for this item alone (a part, or the result of a callback) count regardless of their size. Small values that the
    // variable also has are not worth counting.
    private const int FreeBytes = 1024;

    private readonly Lock _gate = new();
    private readonly TimeProvider _time = subscription.Time;
    private readonly ValueQueue _queue = new(
        1, discardOldest: true, freeBytes: range is null && node is not VariableNode { OnRead: not null } ? FreeBytes : 0);

    private DataFilter _filter = DataFilter.Default;
    private TimestampsToReturn _timestamps;
    private long _interval;
    private bool _isActive;
    private bool _isMarked;
    private bool _hasSampled;

    // The value that the next one is compared with.
    private DataValue _last;
    private long _lastBytes;
    private bool _hasLast;

    // The newest value of a sampling interval that is not over.
    private DataValue _pending;
    private long _pendingBytes;
    private long _pendingSince;
    private bool _hasPending;

    // The item's memory is charged to its session.
    private SessionSubscriptions? _payer;
    private long _charged;

    /// <summary>Whether a whole value with this many <see cref="ValueBytes"/> counts toward an item's memory.</summary>
    public static bool IsLarge(long bytes) => bytes > FreeBytes;

    public uint Id => id;

    public Node Node => node;

    public AttributeId Attribute => attribute;

    /// <summary>The monitored part of the value; null for all of it.</summary>
    public NumericRange? Part => range;

    /// <summary>The session that has it, at this moment.</summary>
    public SessionSubscriptions Owner => subscription.Owner;

    /// <summary>The client's number of the item.</summary>
    public uint ClientHandle { get; private set; }

    public MonitoringMode Mode { get; private set; }

    /// <summary>Maximum number of values of the queue; 0 until the item was configured.</summary>
    public int QueueSize { get; private set; }

    /// <summary>Whether it monitors the access rights to the value, which the variable's owner may change at any time.</summary>
    public bool IsAccess => attribute is AttributeId.AccessLevel or AttributeId.UserAccessLevel or AttributeId.AccessLevelEx;

    /// <summary>Whether a timer of the subscription reads the value.</summary>
    public bool IsPolled => attribute == AttributeId.Value && node is VariableNode { OnRead: not null };

    /// <summary>When a polled item is read next, as a timestamp of the server's time.</summary>
    public long PollAt { get; set; }

    /// <summary>Whether the item is in its subscription's list of items to report.</summary>
    public bool IsReady { get; set; }

    /// <summary>The items that this one triggers; null for none.</summary>
    public HashSet<MonitoredItem>? Links { get; set; }

    /// <summary>The items that trigger this one; null for none.</summary>
    public HashSet<MonitoredItem>? LinkedBy { get; set; }

    /// <summary>The place in the variable's list; under that variable's lock.</summary>
    public int WatchIndex { get; set; } = -1;

    /// <summary>Timestamp ticks between samples; 0 for each value.</summary>
    public long Interval => _interval;

    /// <summary>What the item holds, as far as it counts.</summary>
    public long HeldBytes
    {
        get
        {
            lock (_gate)
            {
                return _charged;
            }
        }
    }

    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _queue.Count;
            }
        }
    }

    public void Configure(
        uint clientHandle, TimestampsToReturn timestamps, in DataFilter filter, TimeSpan interval, int queueSize, bool discardOldest)
    {
        ClientHandle = clientHandle;
        QueueSize = queueSize;
        lock (_gate)
        {
            long ticks = (long)(interval.TotalSeconds * _time.TimestampFrequency);
            if (ticks != _interval)
            {
                // The interval ends now: later values must not overtake its sample.
                TakePending();
            }

            _timestamps = timestamps;
            _filter = filter;
            _interval = ticks;
            _queue.Resize(queueSize, discardOldest);
            Charge();
        }
    }

    /// <summary>Changes the mode. An item that was disabled begins with the current value.</summary>
    public void SetMode(MonitoringMode mode)
    {
        MonitoringMode before = Mode;
        Mode = mode;
        IsReady = IsReady && mode == MonitoringMode.Reporting;
        if (mode == MonitoringMode.Disabled)
        {
            Stop();
            return;
        }

        if (before != MonitoringMode.Disabled)
        {
            // Values that were only sampled until now are to be reported.
            lock (_gate)
            {
                Mark();
            }

            return;
        }

        lock (_gate)
        {
            _isActive = true;
        }

        if (node is VariableNode variable && (attribute == AttributeId.Value ? variable.OnRead is null : IsAccess))
        {
            variable.Watch(this);
        }
        else
        {
            Poll();
        }
    }

    /// <summary>Accepts no more values, and drops those it has.</summary>
    public void Stop()
    {
        (node as VariableNode)?.Unwatch(this);
        lock (_gate)
        {
            _isActive = false;
            _hasLast = false;
            _hasPending = false;
            (_last, _pending) = (default, default);
            (_lastBytes, _pendingBytes) = (0, 0);
            _queue.Clear();
            Charge();
        }
    }

    /// <summary>Reports the current value once more, unless one waits (OPC 10000-5, 9.2).</summary>
    public void Resend()
    {
        lock (_gate)
        {
            if (_hasLast && _queue.Count == 0)
            {
                Enqueue(_last, _lastBytes);
                Charge();
            }
        }
    }

    /// <summary>
    /// The subscription publishes: takes the sample of an interval that is over. Returns the number of values in the queue, and whether one
    /// was sampled since the last call.
    /// </summary>
    public int Collect(long now, out bool hasSampled)
    {
        lock (_gate)
        {
            _isMarked = false;
            SamplePending(now);
            if (_hasPending)
            {
                Mark();
            }

            hasSampled = _hasSampled;
            _hasSampled = false;
            return _queue.Count;
        }
    }

    /// <summary>
    /// Another item triggers this one: takes the sample of an interval that is over. Returns the number of values in the queue.
    /// </summary>
    public int CollectTriggered(long now)
    {
        lock (_gate)
        {
            SamplePending(now);
            return _queue.Count;
        }
    }

    /// <summary>Takes the oldest value out of the queue.</summary>
    public bool TryTake(out DataValue value)
    {
        lock (_gate)
        {
            bool any = _queue.Count != 0;
            value = any ? _queue.Take() : default;
            Charge();
            return any;
        }
    }

    /// <summary>Puts back the last taken value: it waits for the next message.</summary>
    public void PutBack(in DataValue value)
    {
        lock (_gate)
        {
            _queue.PutBack(value);
            Charge();
        }
    }

    /// <summary>The subscription belongs to another session now.</summary>
    public void OnOwnerChanged()
    {
        lock (_gate)
        {
            Charge();
        }
    }

    // After each change of what the item holds.
    private void Charge()
    {
        long held = _queue.Bytes + _lastBytes + _pendingBytes;
        SessionSubscriptions owner = subscription.Owner;
        if (owner != _payer)
        {
            _payer?.Charge(-_charged);
            (_payer, _charged) = (owner, 0);
        }

        if (held != _charged)
        {
            owner.Charge(held - _charged);
            _charged = held;
        }
    }

    private void Mark()
    {
        if (!_isMarked)
        {
            _isMarked = true;
            subscription.Mark(this);
        }
    }
}
