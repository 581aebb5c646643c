namespace FastPort.OpcUa.Client;

/// <summary>A new value of a monitored item.</summary>
/// <param name="Item">The item.</param>
/// <param name="Value">
/// The value with its status and times. The status has the overflow bit if the item's queue lost values before it.
/// </param>
public readonly record struct DataChange(OpcUaMonitoredItem Item, DataValue Value);
