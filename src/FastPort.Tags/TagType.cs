namespace FastPort.Tags;

/// <summary>
/// The type of a tag's value: the built-in types of OPC UA, with their numbers (OPC 10000-6, 5.1.2). In brackets the .NET type of a value.
/// </summary>
public enum TagType
{
    /// <summary>There is no value, or the type is not known.</summary>
    Null = 0,

    /// <summary><see cref="bool"/></summary>
    Boolean = 1,

    /// <summary><see cref="sbyte"/></summary>
    SByte = 2,

    /// <summary><see cref="byte"/></summary>
    Byte = 3,

    /// <summary><see cref="short"/></summary>
    Int16 = 4,

    /// <summary><see cref="ushort"/></summary>
    UInt16 = 5,

    /// <summary><see cref="int"/></summary>
    Int32 = 6,

    /// <summary><see cref="uint"/></summary>
    UInt32 = 7,

    /// <summary><see cref="long"/></summary>
    Int64 = 8,

    /// <summary><see cref="ulong"/></summary>
    UInt64 = 9,

    /// <summary><see cref="float"/></summary>
    Float = 10,

    /// <summary><see cref="double"/></summary>
    Double = 11,

    /// <summary><see cref="string"/></summary>
    String = 12,

    /// <summary><see cref="System.DateTime"/>, UTC.</summary>
    DateTime = 13,

    /// <summary>16 bytes in OPC UA Binary: an array of <see cref="byte"/>.</summary>
    Guid = 14,

    /// <summary>An array of <see cref="byte"/>.</summary>
    ByteString = 15,

    /// <summary><see cref="string"/></summary>
    XmlElement = 16,

    /// <summary>In OPC UA Binary: an array of <see cref="byte"/>.</summary>
    NodeId = 17,

    /// <summary>In OPC UA Binary: an array of <see cref="byte"/>.</summary>
    ExpandedNodeId = 18,

    /// <summary><see cref="TagStatus"/></summary>
    StatusCode = 19,

    /// <summary>In OPC UA Binary: an array of <see cref="byte"/>.</summary>
    QualifiedName = 20,

    /// <summary>In OPC UA Binary: an array of <see cref="byte"/>.</summary>
    LocalizedText = 21,

    /// <summary>In OPC UA Binary: an array of <see cref="byte"/>.</summary>
    ExtensionObject = 22,

    /// <summary>In OPC UA Binary: an array of <see cref="byte"/>.</summary>
    DataValue = 23,

    /// <summary>In OPC UA Binary: an array of <see cref="byte"/>. Only in arrays.</summary>
    Variant = 24,

    /// <summary>In OPC UA Binary: an array of <see cref="byte"/>.</summary>
    DiagnosticInfo = 25,
}
