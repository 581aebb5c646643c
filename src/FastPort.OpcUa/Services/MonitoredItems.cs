using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>How an item is monitored (OPC 10000-4, 7.21).</summary>
internal struct MonitoringParameters : IStructure
{
    public uint ClientHandle;
    public double SamplingInterval;
    public ExtensionObject? Filter;
    public uint QueueSize;
    public bool DiscardOldest;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ClientHandle);
        codec.Field(ref SamplingInterval);
        codec.Field(ref Filter);
        codec.Field(ref QueueSize);
        codec.Field(ref DiscardOldest);
    }
}

/// <summary>When a value counts as changed (OPC 10000-4, 7.22.2).</summary>
internal struct DataChangeFilter : IServiceMessage
{
    public DataChangeTrigger Trigger;
    public uint DeadbandType;
    public double DeadbandValue;

    public const ushort EncodingIdNumber = 724;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Enumeration(ref Trigger);
        codec.Field(ref DeadbandType);
        codec.Field(ref DeadbandValue);
    }
}

/// <summary>An item to monitor (OPC 10000-4, 5.13.2).</summary>
internal struct MonitoredItemCreateRequest : IStructure
{
    public ReadValueId ItemToMonitor;
    public MonitoringMode MonitoringMode;
    public MonitoringParameters RequestedParameters;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structure(ref ItemToMonitor);
        codec.Enumeration(ref MonitoringMode);
        codec.Structure(ref RequestedParameters);
    }
}

/// <summary>The result of one item (OPC 10000-4, 5.13.2).</summary>
internal struct MonitoredItemCreateResult : IStructure
{
    public StatusCode StatusCode;
    public uint MonitoredItemId;
    public double RevisedSamplingInterval;
    public uint RevisedQueueSize;
    public ExtensionObject? FilterResult;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref StatusCode);
        codec.Field(ref MonitoredItemId);
        codec.Field(ref RevisedSamplingInterval);
        codec.Field(ref RevisedQueueSize);
        codec.Field(ref FilterResult);
    }
}

/// <summary>Adds items to a subscription (OPC 10000-4, 5.13.2).</summary>
internal struct CreateMonitoredItemsRequest : IServiceMessage
{
    public uint SubscriptionId;
    public TimestampsToReturn TimestampsToReturn;
    public MonitoredItemCreateRequest[]? ItemsToCreate;

    public const ushort EncodingIdNumber = 751;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SubscriptionId);
        codec.Enumeration(ref TimestampsToReturn);
        codec.Structures(ref ItemsToCreate);
    }
}

/// <summary>Answers <see cref="CreateMonitoredItemsRequest"/>.</summary>
internal struct CreateMonitoredItemsResponse : IServiceMessage
{
    public MonitoredItemCreateResult[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 754;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>An item to change (OPC 10000-4, 5.13.3).</summary>
internal struct MonitoredItemModifyRequest : IStructure
{
    public uint MonitoredItemId;
    public MonitoringParameters RequestedParameters;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref MonitoredItemId);
        codec.Structure(ref RequestedParameters);
    }
}

/// <summary>The result of one changed item (OPC 10000-4, 5.13.3).</summary>
internal struct MonitoredItemModifyResult : IStructure
{
    public StatusCode StatusCode;
    public double RevisedSamplingInterval;
    public uint RevisedQueueSize;
    public ExtensionObject? FilterResult;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref StatusCode);
        codec.Field(ref RevisedSamplingInterval);
        codec.Field(ref RevisedQueueSize);
        codec.Field(ref FilterResult);
    }
}

/// <summary>Changes items of a subscription (OPC 10000-4, 5.13.3).</summary>
internal struct ModifyMonitoredItemsRequest : IServiceMessage
{
    public uint SubscriptionId;
    public TimestampsToReturn TimestampsToReturn;
    public MonitoredItemModifyRequest[]? ItemsToModify;

    public const ushort EncodingIdNumber = 763;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SubscriptionId);
        codec.Enumeration(ref TimestampsToReturn);
        codec.Structures(ref ItemsToModify);
    }
}

/// <summary>Answers <see cref="ModifyMonitoredItemsRequest"/>.</summary>
internal struct ModifyMonitoredItemsResponse : IServiceMessage
{
    public MonitoredItemModifyResult[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 766;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>Changes the mode of items (OPC 10000-4, 5.13.4).</summary>
internal struct SetMonitoringModeRequest : IServiceMessage
{
    public uint SubscriptionId;
    public MonitoringMode MonitoringMode;
    public uint[]? MonitoredItemIds;

    public const ushort EncodingIdNumber = 769;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SubscriptionId);
        codec.Enumeration(ref MonitoringMode);
        codec.Array(ref MonitoredItemIds);
    }
}

/// <summary>Answers <see cref="SetMonitoringModeRequest"/>.</summary>
internal struct SetMonitoringModeResponse : IServiceMessage
{
    public StatusCode[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 772;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>Links items to one that triggers their reports (OPC 10000-4, 5.13.5).</summary>
internal struct SetTriggeringRequest : IServiceMessage
{
    public uint SubscriptionId;
    public uint TriggeringItemId;
    public uint[]? LinksToAdd;
    public uint[]? LinksToRemove;

    public const ushort EncodingIdNumber = 775;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SubscriptionId);
        codec.Field(ref TriggeringItemId);
        codec.Array(ref LinksToAdd);
        codec.Array(ref LinksToRemove);
    }
}

/// <summary>Answers <see cref="SetTriggeringRequest"/>.</summary>
internal struct SetTriggeringResponse : IServiceMessage
{
    public StatusCode[]? AddResults;
    public DiagnosticInfo?[]? AddDiagnosticInfos;
    public StatusCode[]? RemoveResults;
    public DiagnosticInfo?[]? RemoveDiagnosticInfos;

    public const ushort EncodingIdNumber = 778;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref AddResults);
        codec.Array(ref AddDiagnosticInfos);
        codec.Array(ref RemoveResults);
        codec.Array(ref RemoveDiagnosticInfos);
    }
}

/// <summary>Removes items from a subscription (OPC 10000-4, 5.13.6).</summary>
internal struct DeleteMonitoredItemsRequest : IServiceMessage
{
    public uint SubscriptionId;
    public uint[]? MonitoredItemIds;

    public const ushort EncodingIdNumber = 781;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SubscriptionId);
        codec.Array(ref MonitoredItemIds);
    }
}

/// <summary>Answers <see cref="DeleteMonitoredItemsRequest"/>.</summary>
internal struct DeleteMonitoredItemsResponse : IServiceMessage
{
    public StatusCode[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 784;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}
