using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>A field of an event, by the type that has it (OPC 10000-4, 7.7.4.5).</summary>
internal struct SimpleAttributeOperand : IServiceMessage
{
    public NodeId TypeDefinitionId;
    public QualifiedName[]? BrowsePath;
    public uint AttributeId;
    public string? IndexRange;

    public const ushort EncodingIdNumber = 603;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref TypeDefinitionId);
        codec.Array(ref BrowsePath);
        codec.Field(ref AttributeId);
        codec.Field(ref IndexRange);
    }
}

/// <summary>A value in a condition (OPC 10000-4, 7.7.4.3).</summary>
internal struct LiteralOperand : IServiceMessage
{
    public Variant Value;

    public const ushort EncodingIdNumber = 597;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref Value);
    }
}

/// <summary>A condition (OPC 10000-4, 7.7.1).</summary>
internal struct ContentFilterElement : IStructure
{
    /// <summary>Its operand is a type: the event is of it, or of a subtype.</summary>
    public const uint OfType = 14;

    public uint FilterOperator;
    public ExtensionObject?[]? FilterOperands;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref FilterOperator);
        codec.Array(ref FilterOperands);
    }
}

/// <summary>The reported events and fields (OPC 10000-4, 7.22.3).</summary>
internal struct EventFilter : IServiceMessage
{
    public SimpleAttributeOperand[]? SelectClauses;

    /// <summary>A content filter, which consists of its elements; without elements, all events pass.</summary>
    public ContentFilterElement[]? WhereClause;

    public const ushort EncodingIdNumber = 727;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref SelectClauses);
        codec.Structures(ref WhereClause);
    }
}

/// <summary>An event of an item (OPC 10000-4, 7.25.3).</summary>
internal struct EventFieldList : IStructure
{
    public uint ClientHandle;
    public Variant[]? EventFields;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ClientHandle);
        codec.Array(ref EventFields);
    }
}

/// <summary>Events of items (OPC 10000-4, 7.25.3).</summary>
internal struct EventNotificationList : IServiceMessage
{
    public EventFieldList[]? Events;

    public const ushort EncodingIdNumber = 916;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref Events);
    }
}
