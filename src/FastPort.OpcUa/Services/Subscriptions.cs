using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>Creates a subscription (OPC 10000-4, 5.14.2).</summary>
internal struct CreateSubscriptionRequest : IServiceMessage
{
    public double RequestedPublishingInterval;
    public uint RequestedLifetimeCount;
    public uint RequestedMaxKeepAliveCount;
    public uint MaxNotificationsPerPublish;
    public bool PublishingEnabled;
    public byte Priority;

    public const ushort EncodingIdNumber = 787;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref RequestedPublishingInterval);
        codec.Field(ref RequestedLifetimeCount);
        codec.Field(ref RequestedMaxKeepAliveCount);
        codec.Field(ref MaxNotificationsPerPublish);
        codec.Field(ref PublishingEnabled);
        codec.Field(ref Priority);
    }
}

/// <summary>Answers <see cref="CreateSubscriptionRequest"/>.</summary>
internal struct CreateSubscriptionResponse : IServiceMessage
{
    public uint SubscriptionId;
    public double RevisedPublishingInterval;
    public uint RevisedLifetimeCount;
    public uint RevisedMaxKeepAliveCount;

    public const ushort EncodingIdNumber = 790;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SubscriptionId);
        codec.Field(ref RevisedPublishingInterval);
        codec.Field(ref RevisedLifetimeCount);
        codec.Field(ref RevisedMaxKeepAliveCount);
    }
}

/// <summary>Changes a subscription (OPC 10000-4, 5.14.3).</summary>
internal struct ModifySubscriptionRequest : IServiceMessage
{
    public uint SubscriptionId;
    public double RequestedPublishingInterval;
    public uint RequestedLifetimeCount;
    public uint RequestedMaxKeepAliveCount;
    public uint MaxNotificationsPerPublish;
    public byte Priority;

    public const ushort EncodingIdNumber = 793;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SubscriptionId);
        codec.Field(ref RequestedPublishingInterval);
        codec.Field(ref RequestedLifetimeCount);
        codec.Field(ref RequestedMaxKeepAliveCount);
        codec.Field(ref MaxNotificationsPerPublish);
        codec.Field(ref Priority);
    }
}

/// <summary>Answers <see cref="ModifySubscriptionRequest"/>.</summary>
internal struct ModifySubscriptionResponse : IServiceMessage
{
    public double RevisedPublishingInterval;
    public uint RevisedLifetimeCount;
    public uint RevisedMaxKeepAliveCount;

    public const ushort EncodingIdNumber = 796;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref RevisedPublishingInterval);
        codec.Field(ref RevisedLifetimeCount);
        codec.Field(ref RevisedMaxKeepAliveCount);
    }
}

/// <summary>Switches publishing on or off (OPC 10000-4, 5.14.4).</summary>
internal struct SetPublishingModeRequest : IServiceMessage
{
    public bool PublishingEnabled;
    public uint[]? SubscriptionIds;

    public const ushort EncodingIdNumber = 799;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref PublishingEnabled);
        codec.Array(ref SubscriptionIds);
    }
}

/// <summary>Answers <see cref="SetPublishingModeRequest"/>.</summary>
internal struct SetPublishingModeResponse : IServiceMessage
{
    public StatusCode[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 802;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>A notification message that was received (OPC 10000-4, 5.14.5).</summary>
internal struct SubscriptionAcknowledgement : IStructure
{
    public uint SubscriptionId;
    public uint SequenceNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SubscriptionId);
        codec.Field(ref SequenceNumber);
    }
}

/// <summary>The notifications of a subscription (OPC 10000-4, 7.26).</summary>
internal struct NotificationMessage : IStructure
{
    public uint SequenceNumber;
    public DateTime PublishTime;
    public ExtensionObject?[]? NotificationData;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SequenceNumber);
        codec.Field(ref PublishTime);
        codec.Array(ref NotificationData);
    }
}

/// <summary>Waits for a notification message, and acknowledges earlier ones (OPC 10000-4, 5.14.5).</summary>
internal struct PublishRequest : IServiceMessage
{
    public SubscriptionAcknowledgement[]? SubscriptionAcknowledgements;

    public const ushort EncodingIdNumber = 826;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref SubscriptionAcknowledgements);
    }
}

/// <summary>Answers <see cref="PublishRequest"/>.</summary>
internal struct PublishResponse : IServiceMessage
{
    public uint SubscriptionId;
    public uint[]? AvailableSequenceNumbers;
    public bool MoreNotifications;
    public NotificationMessage NotificationMessage;
    public StatusCode[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 829;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SubscriptionId);
        codec.Array(ref AvailableSequenceNumbers);
        codec.Field(ref MoreNotifications);
        codec.Structure(ref NotificationMessage);
        codec.Array(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>Asks for a notification message once more (OPC 10000-4, 5.14.6).</summary>
internal struct RepublishRequest : IServiceMessage
{
    public uint SubscriptionId;
    public uint RetransmitSequenceNumber;

    public const ushort EncodingIdNumber = 832;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SubscriptionId);
        codec.Field(ref RetransmitSequenceNumber);
    }
}

/// <summary>Answers <see cref="RepublishRequest"/>.</summary>
internal struct RepublishResponse : IServiceMessage
{
    public NotificationMessage NotificationMessage;

    public const ushort EncodingIdNumber = 835;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structure(ref NotificationMessage);
    }
}

/// <summary>The result of one transferred subscription (OPC 10000-4, 5.14.7).</summary>
internal struct TransferResult : IStructure
{
    public StatusCode StatusCode;
    public uint[]? AvailableSequenceNumbers;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref StatusCode);
        codec.Array(ref AvailableSequenceNumbers);
    }
}

/// <summary>Takes over subscriptions from another session (OPC 10000-4, 5.14.7).</summary>
internal struct TransferSubscriptionsRequest : IServiceMessage
{
    public uint[]? SubscriptionIds;
    public bool SendInitialValues;

    public const ushort EncodingIdNumber = 841;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref SubscriptionIds);
        codec.Field(ref SendInitialValues);
    }
}

/// <summary>Answers <see cref="TransferSubscriptionsRequest"/>.</summary>
internal struct TransferSubscriptionsResponse : IServiceMessage
{
    public TransferResult[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 844;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>Ends subscriptions (OPC 10000-4, 5.14.8).</summary>
internal struct DeleteSubscriptionsRequest : IServiceMessage
{
    public uint[]? SubscriptionIds;

    public const ushort EncodingIdNumber = 847;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref SubscriptionIds);
    }
}

/// <summary>Answers <see cref="DeleteSubscriptionsRequest"/>.</summary>
internal struct DeleteSubscriptionsResponse : IServiceMessage
{
    public StatusCode[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 850;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>A new value of an item (OPC 10000-4, 7.25.2).</summary>
internal struct MonitoredItemNotification : IStructure
{
    public uint ClientHandle;
    public DataValue Value;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ClientHandle);
        codec.Field(ref Value);
    }
}

/// <summary>New values of items (OPC 10000-4, 7.25.2).</summary>
internal struct DataChangeNotification : IServiceMessage
{
    public MonitoredItemNotification[]? MonitoredItems;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 811;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref MonitoredItems);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>The end or a change of a subscription (OPC 10000-4, 7.25.4).</summary>
internal struct StatusChangeNotification : IServiceMessage
{
    public StatusCode Status;
    public DiagnosticInfo? DiagnosticInfo;

    public const ushort EncodingIdNumber = 820;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref Status);
        codec.Field(ref DiagnosticInfo);
    }
}
