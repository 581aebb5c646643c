namespace FastPort.OpcUa;

/// <summary>The built-in types, by their ids in the encoding (OPC 10000-6, 5.1.2).</summary>
public enum BuiltInType : byte
{
    /// <summary>No value.</summary>
    Null = 0,

    /// <summary><see cref="bool"/>.</summary>
    Boolean = 1,

    /// <summary><see cref="sbyte"/>.</summary>
    SByte = 2,

    /// <summary><see cref="byte"/>.</summary>
    Byte = 3,

    /// <summary><see cref="short"/>.</summary>
    Int16 = 4,

    /// <summary><see cref="ushort"/>.</summary>
    UInt16 = 5,

    /// <summary><see cref="int"/>; also for enumerations.</summary>
    Int32 = 6,

    /// <summary><see cref="uint"/>.</summary>
    UInt32 = 7,

    /// <summary><see cref="long"/>.</summary>
    Int64 = 8,

    /// <summary><see cref="ulong"/>.</summary>
    UInt64 = 9,

    /// <summary><see cref="float"/>.</summary>
    Float = 10,

    /// <summary><see cref="double"/>.</summary>
    Double = 11,

    /// <summary><see cref="string"/>.</summary>
    String = 12,

    /// <summary><see cref="System.DateTime"/>, UTC.</summary>
    DateTime = 13,

    /// <summary><see cref="System.Guid"/>.</summary>
    Guid = 14,

    /// <summary><see cref="OpcUa.ByteString"/>.</summary>
    ByteString = 15,

    /// <summary><see cref="OpcUa.XmlElement"/>.</summary>
    XmlElement = 16,

    /// <summary><see cref="OpcUa.NodeId"/>.</summary>
    NodeId = 17,

    /// <summary><see cref="OpcUa.ExpandedNodeId"/>.</summary>
    ExpandedNodeId = 18,

    /// <summary><see cref="OpcUa.StatusCode"/>.</summary>
    StatusCode = 19,

    /// <summary><see cref="OpcUa.QualifiedName"/>.</summary>
    QualifiedName = 20,

    /// <summary><see cref="OpcUa.LocalizedText"/>.</summary>
    LocalizedText = 21,

    /// <summary><see cref="OpcUa.ExtensionObject"/>.</summary>
    ExtensionObject = 22,

    /// <summary><see cref="OpcUa.DataValue"/>.</summary>
    DataValue = 23,

    /// <summary><see cref="OpcUa.Variant"/>; only as an element of an array.</summary>
    Variant = 24,

    /// <summary><see cref="OpcUa.DiagnosticInfo"/>.</summary>
    DiagnosticInfo = 25,
}
