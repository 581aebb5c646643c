using System.Collections.Concurrent;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Server;

/// <summary>
/// A subscription (OPC 10000-4, 5.14.1): its items, and the cycle in which it publishes. Under the gate of the session that it belongs to,
/// but <see cref="Mark"/> and <see cref="Slot"/>, which items call on any thread. Cycles are separate timers, so they continue while the
/// session has no channel.
/// </summary>
internal sealed partial class Subscription
{
    /// <summary>
    /// Maximum number of items that are polled while the gate is held: a few milliseconds of callbacks that do not block. The loop of the
    /// session's channel, with all its connections, waits for the gate.
    /// </summary>
    internal const int MaxPollsAtOnce = 500;

    private readonly OpcUaServer _server;
    private readonly CycleTimer _cycle;
    private readonly CycleTimer _polling;
    private readonly Dictionary<uint, MonitoredItem> _items = [];
    private readonly HashSet<MonitoredItem> _polled = [];

    // Those that are due and wait for their turn.
    private readonly Queue<MonitoredItem> _due = new();
    private readonly ConcurrentQueue<MonitoredItem> _marked = new();
    private readonly long _epoch;
    private TimeSpan _pollInterval;
    private uint _lastItem;
    private SubscriptionTerms _terms;

    // Changes under the gates of both sessions.
    private volatile SessionSubscriptions _owner;

    public Subscription(OpcUaServer server, SessionSubscriptions owner, uint id, in SubscriptionTerms terms, bool isPublishing)
    {
        _server = server;
        _owner = owner;
        Id = id;
        IsPublishing = isPublishing;
        _terms = terms;

        // The first cycle sends something.
        _cyclesWithoutMessage = terms.KeepAliveCount;
        _epoch = server.Time.GetTimestamp();
        _sent = new SentMessages(server.Options.MaxUnacknowledgedMessages, server.Options.MaxMessageBytes, owner);
        _cycle = new CycleTimer(server.Time, () => RunDue(_cycle!, OnCycle));
        _polling = new CycleTimer(server.Time, () => RunDue(_polling!, OnPoll));
        _cycle.Start(terms.Interval);
    }

    public uint Id { get; }

    /// <summary>The session that it belongs to, at this moment.</summary>
    public SessionSubscriptions Owner => _owner;

    public int ItemCount => _items.Count;

    /// <summary>Links between items.</summary>
    public int LinkCount { get; private set; }

    /// <summary>References to items that have, or had, something to report; with those of removed items.</summary>
    public int QueuedItems => _marked.Count + _ready.Count;

    public IEnumerable<MonitoredItem> Items => _items.Values;

    /// <summary>Sum of the queue sizes of all items.</summary>
    public long QueueSizes => _items.Values.Sum(static item => (long)item.QueueSize);

    /// <summary>The counted memory of the items' values.</summary>
    public long HeldBytes => _items.Values.Sum(static item => item.HeldBytes);

    public byte Priority => _terms.Priority;

    public TimeSpan Interval => _terms.Interval;

    /// <summary>Whether data is reported; keep-alive messages always are.</summary>
    public bool IsPublishing { get; set; }

    public TimeProvider Time => _server.Time;

    /// <summary>Whether the session that it belongs to may read or write the value of a variable. On any thread.</summary>
    public bool Allows(VariableNode variable, bool isWrite)
    {
        if (_server.Options.AuthorizeVariable is not { } authorize)
        {
            return true;
        }

        ServerSession session = Owner.Session;
        var access = new VariableAccess(session.Identity, session.Channel?.RemoteEndPoint, variable, isWrite, IsAttempt: false);
        return NoContext.Call(static one => one.authorize(one.access), (authorize, access));
    }

    /// <summary>A callback of the application has thrown while an item was sampled. On any thread.</summary>
    public void OnReadThrew(Exception exception, NodeId variable)
    {
        if (_server.MayWarn())
        {
            ServerLog.ReadThrew(_server.Logger, exception, variable);
        }
    }

    /// <summary>Changes the terms; a new interval begins now.</summary>
    public void Modify(in SubscriptionTerms terms)
    {
        bool isNewInterval = terms.Interval != _terms.Interval;
        _terms = terms;
        ResetLifetime();
        if (isNewInterval)
        {
            _cycle.Start(terms.Interval);
        }
    }

    /// <summary>Ends everything. The owner has forgotten the subscription.</summary>
    public void Close()
    {
        _server.Sessions.Subscriptions.TryRemove(Id, out _);
        _cycle.Dispose();
        _polling.Dispose();
        foreach (MonitoredItem item in _items.Values)
        {
            item.Stop();
            _owner.OnItemRemoved(item);
        }

        CountLinks(-LinkCount);
        _items.Clear();
        _polled.Clear();
        _due.Clear();
        _ready.Clear();
        _marked.Clear();
        _sent.Clear();
    }

    /// <summary>
    /// Another session has it now; under both gates. Pending notifications are sent there, from the next cycle on: the client first learns
    /// that it has the subscription.
    /// </summary>
    public void MoveTo(SessionSubscriptions owner)
    {
        _owner = owner;
        _sent.MoveTo(owner);
        owner.TrimSent();
        foreach (MonitoredItem item in _items.Values)
        {
            item.OnOwnerChanged();
        }

        ResetLifetime();
    }

    /// <summary>Reports the current value of all reporting items once more, after the waiting ones (OPC 10000-5, 9.2).</summary>
    public void Resend()
    {
        foreach (MonitoredItem item in _items.Values)
        {
            if (item.Mode == MonitoringMode.Reporting)
            {
                item.Resend();
            }
        }
    }

    public MonitoredItem? FindItem(uint id) => _items.GetValueOrDefault(id);

    /// <summary>Adds an item, which is disabled until its mode is set.</summary>
    public MonitoredItem AddItem(Node node, AttributeId attribute, NumericRange? range)
    {
        do
        {
            _lastItem++;
        }
        while (_lastItem == 0 || _items.ContainsKey(_lastItem));
        var item = new MonitoredItem(this, _lastItem, node, attribute, range);
        _items.Add(item.Id, item);
        _owner.OnItemAdded();
        return item;
    }

    public void SetMode(MonitoredItem item, MonitoringMode mode)
    {
        item.SetMode(mode);
        UpdatePolling(item);
    }

    public void RemoveItem(MonitoredItem item)
    {
        SetMode(item, MonitoringMode.Disabled);
        DropLinks(item);
        _items.Remove(item.Id);
        _owner.OnItemRemoved(item);
        TrimQueues();
    }

    /// <summary>Links an item to one that triggers its reports (OPC 10000-4, 5.13.1.6).</summary>
    public StatusCode AddLink(MonitoredItem triggering, uint id)
    {
        if (FindItem(id) is not { } linked)
        {
            return StatusCodes.BadMonitoredItemIdInvalid;
        }

        if (_owner.LinkCount >= _server.Options.MaxMonitoredItemsPerSession)
        {
            return StatusCodes.BadTooManyMonitoredItems;
        }

        if ((triggering.Links ??= []).Add(linked))
        {
            (linked.LinkedBy ??= []).Add(triggering);
            CountLinks(1);
        }

        return StatusCodes.Good;
    }

    public StatusCode RemoveLink(MonitoredItem triggering, uint id)
    {
        if (FindItem(id) is not { } linked || triggering.Links?.Remove(linked) != true)
        {
            return StatusCodes.BadMonitoredItemIdInvalid;
        }

        linked.LinkedBy!.Remove(triggering);
        CountLinks(-1);
        return StatusCodes.Good;
    }

    // The links of an item end with it, in both directions (OPC 10000-4, 5.13.6.1).
    private void DropLinks(MonitoredItem item)
    {
        foreach (MonitoredItem linked in item.Links ?? [])
        {
            linked.LinkedBy!.Remove(item);
            CountLinks(-1);
        }

        item.Links = null;
        foreach (MonitoredItem triggering in item.LinkedBy ?? [])
        {
            triggering.Links!.Remove(item);
            CountLinks(-1);
        }

        item.LinkedBy = null;
    }

    private void CountLinks(int change)
    {
        LinkCount += change;
        _owner.LinkCount += change;
    }

    /// <summary>An item may have something to report. On any thread.</summary>
    public void Mark(MonitoredItem item) => _marked.Enqueue(item);

    /// <summary>The number of the interval that a time lies in. On any thread.</summary>
    public long Slot(long timestamp, long interval) => (timestamp - _epoch) / interval;

    /// <summary>Polls an item according to its mode and interval, after they have changed.</summary>
    public void UpdatePolling(MonitoredItem item)
    {
        if (!item.IsPolled || item.Mode == MonitoringMode.Disabled)
        {
            if (_polled.Remove(item) && _polled.Count == 0)
            {
                _polling.Stop();
                _pollInterval = default;
                _due.Clear();
            }

            return;
        }

        // The timer has the interval of its fastest item, and finds the due ones.
        var interval = TimeSpan.FromSeconds((double)item.Interval / Time.TimestampFrequency);
        item.PollAt = Time.GetTimestamp() + item.Interval;
        _polled.Add(item);
        if (_pollInterval == default || interval < _pollInterval)
        {
            _pollInterval = interval;
            _polling.Start(interval);
        }
    }

    /// <summary>Reports the status of the server at once, if a client monitors it: the server is about to stop. On any thread.</summary>
    public void TellStatus() => RunDue(timer: null, OnStopping);

    // On a timer's thread, or without a timer on another: under the gate of the subscription's current session. No exception may leave it.
    private void RunDue(CycleTimer? timer, Func<long, bool> action)
    {
        while (true)
        {
            SessionSubscriptions owner = _owner;
            lock (owner.Session.Gate)
            {
                if (owner != _owner)
                {
                    continue;
                }

                try
                {
                    if (timer is null)
                    {
                        action(Time.GetTimestamp());
                    }
                    else
                    {
                        timer.Run(action);
                    }
                }
                catch (Exception e)
                {
                    ServerLog.CycleThrew(_server.Logger, e, Id);
                }

                return;
            }
        }
    }

    private bool OnStopping(long now)
    {
        foreach (MonitoredItem item in _polled.Where(static item => AddressSpace.TellsShutdown(item.Node.Id)))
        {
            item.Poll();
        }

        Collect(now);
        if (HasNotifications())
        {
            _owner.PublishSoon(this);
        }

        return false;
    }

    // Returns whether items are left for the next call.
    private bool OnPoll(long now)
    {
        if (_due.Count == 0)
        {
            foreach (MonitoredItem item in _polled)
            {
                if (item.PollAt <= now)
                {
                    item.PollAt += (((now - item.PollAt) / item.Interval) + 1) * item.Interval;
                    _due.Enqueue(item);
                }
            }
        }

        for (int left = MaxPollsAtOnce; left > 0 && _due.TryDequeue(out MonitoredItem? item); left--)
        {
            if (_polled.Contains(item))
            {
                item.Poll();
            }
        }

        return _due.Count != 0;
    }
}
