using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>What is monitored, and how (OPC 10000-4, 5.13.2). Immutable.</summary>
/// <param name="Node">
/// The node. After a restart of the server, the client maps it if its namespace has another index, or to the null id while the server does
/// not have its namespace.
/// </param>
public sealed record MonitoredItemOptions(NodeId Node)
{
    /// <summary>The attribute. Defaults to the value.</summary>
    public AttributeId Attribute { get; init; } = AttributeId.Value;

    /// <summary>The part of an array, such as <c>2:5</c>; null for all of it. Defaults to null.</summary>
    public string? IndexRange { get; init; }

    /// <summary>What happens to values. Defaults to Reporting.</summary>
    public MonitoringMode Mode { get; init; } = MonitoringMode.Reporting;

    /// <summary>
    /// How often the server samples the value; zero for as fast as it can, null for the subscription's publishing interval. Defaults to
    /// null.
    /// </summary>
    public TimeSpan? SamplingInterval { get; init; }

    /// <summary>Values that the server keeps between two messages; 0 for its smallest queue. Defaults to 1.</summary>
    public uint QueueSize { get; init; } = 1;

    /// <summary>Whether the oldest value is dropped when the queue is full, or the newest. Defaults to true: the oldest.</summary>
    public bool DiscardOldest { get; init; } = true;

    /// <summary>What counts as a change. Defaults to a different status or value.</summary>
    public DataChangeTrigger Trigger { get; init; } = DataChangeTrigger.StatusValue;

    /// <summary>How much a number must change. Defaults to none.</summary>
    public Deadband Deadband { get; init; }

    /// <summary>An object that the program associates with the item. Defaults to null.</summary>
    public object? Tag { get; init; }

    /// <summary>The events that the item monitors; none if it monitors values.</summary>
    internal EventSelection Events { get; init; }

    internal ReadValueId ItemToMonitor => new() { NodeId = Node, AttributeId = (uint)Attribute, IndexRange = IndexRange };

    internal MonitoringParameters ParametersOf(uint handle) => new()
    {
        ClientHandle = handle,
        SamplingInterval = SamplingInterval?.TotalMilliseconds ?? -1,
        Filter = Events != EventSelection.None ? ModelChanges.FilterOf(Events)
            : Trigger == DataChangeTrigger.StatusValue && Deadband == Deadband.None ? null
            : new DataChangeFilter { Trigger = Trigger, DeadbandType = Deadband.Type, DeadbandValue = Deadband.Value }.ToExtensionObject(),
        QueueSize = QueueSize,
        DiscardOldest = DiscardOldest,
    };
}
