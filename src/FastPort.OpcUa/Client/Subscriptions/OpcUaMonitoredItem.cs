using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>
/// An item of a subscription. Its properties show the last answer of the server, and may be read on any thread; they change when the
/// subscription changes the item or is recreated.
/// </summary>
public sealed class OpcUaMonitoredItem
{
    private readonly HashSet<OpcUaMonitoredItem> _triggered = [];

    // The node with the URI of its namespace, which stays the same when the server gives it another index, or no longer has it.
    private readonly ExpandedNodeId _node;

    internal OpcUaMonitoredItem(OpcUaSubscription subscription, uint handle, MonitoredItemOptions options, NamespaceTable namespaces)
    {
        _node = namespaces.Expand(options.Node);
        Subscription = subscription;
        Handle = handle;
        Options = options;
    }

    /// <summary>The subscription.</summary>
    public OpcUaSubscription Subscription { get; }

    /// <summary>The requested options.</summary>
    public MonitoredItemOptions Options { get; private set; }

    /// <summary>Whether the server monitors the item, or why not. Good for an item whose value comes before the server's answer.</summary>
    public StatusCode Status { get; private set; }

    /// <summary>How often the server samples the value.</summary>
    public TimeSpan SamplingInterval { get; private set; }

    /// <summary>Values that the server keeps between two messages.</summary>
    public uint QueueSize { get; private set; }

    /// <summary>The handle that identifies the item in notifications. Stays the same when the subscription is recreated.</summary>
    internal uint Handle { get; }

    /// <summary>The server's id; 0 if it does not monitor the item.</summary>
    internal uint Id { get; private set; }

    /// <summary>Whether the subscription has the item: the server has accepted it once, and it was not removed.</summary>
    internal bool IsKept { get; private set; }

    /// <summary>Whether it is for events. Only the subscription has it.</summary>
    internal bool IsForEvents => Options.Events != EventSelection.None;

    /// <summary>The items whose values this one reports with its own. Guarded by the subscription's lock.</summary>
    internal HashSet<OpcUaMonitoredItem> Triggered => _triggered;

    internal MonitoredItemCreateRequest CreateRequest => new()
    {
        ItemToMonitor = Options.ItemToMonitor,
        MonitoringMode = Options.Mode,
        RequestedParameters = Options.ParametersOf(Handle),
    };

    internal void Accept(in MonitoredItemCreateResult result)
    {
        Id = result.StatusCode.IsBad ? 0 : result.MonitoredItemId;
        IsKept |= Id != 0;
        Accept(result.StatusCode, result.RevisedSamplingInterval, result.RevisedQueueSize);
    }

    internal void Accept(MonitoredItemOptions options, in MonitoredItemModifyResult result)
    {
        if (!result.StatusCode.IsBad)
        {
            // The node and the mode of an item do not change with its parameters.
            Options = options with
            {
                Node = Options.Node,
                Attribute = Options.Attribute,
                IndexRange = Options.IndexRange,
                Mode = Options.Mode,
            };

            // Without an id, the subscription has ended after the answer: the item has these options when it is recreated.
            if (Id != 0)
            {
                Accept(result.StatusCode, result.RevisedSamplingInterval, result.RevisedQueueSize);
            }
        }
    }

    internal void Accept(MonitoringMode mode) => Options = Options with { Mode = mode };

    internal void Move(NamespaceTable namespaces)
    {
        NodeId node = namespaces.Find(_node);
        if (node != Options.Node)
        {
            Options = Options with { Node = node };
        }
    }

    /// <summary>The server no longer knows the item.</summary>
    internal void Lose() => Lose(StatusCodes.BadMonitoredItemIdInvalid);

    /// <inheritdoc cref="Lose()"/>
    /// <param name="why">Its status from now on.</param>
    internal void Lose(StatusCode why)
    {
        Id = 0;
        Status = why;
    }

    internal void Remove()
    {
        Lose();
        IsKept = false;
        _triggered.Clear();
    }

    private void Accept(StatusCode status, double samplingInterval, uint queueSize)
    {
        Status = status;
        SamplingInterval = Durations.OfMilliseconds(samplingInterval);
        QueueSize = queueSize;
    }
}
