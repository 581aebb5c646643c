namespace FastPort.Tags.OpcUa;

/// <summary>The OPC UA stack that connects to a server.</summary>
public enum OpcUaStack
{
    /// <summary>The client of FastPort.OpcUa.</summary>
    FastPort,

    /// <summary>The .NET stack of the OPC Foundation. The host needs FastPort.Tags.OpcFoundation for it.</summary>
    OpcFoundation,
}
