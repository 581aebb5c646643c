using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>An attribute to read or to monitor (OPC 10000-4, 7.29).</summary>
internal struct ReadValueId : IStructure
{
    public NodeId NodeId;
    public uint AttributeId;
    public string? IndexRange;
    public QualifiedName DataEncoding;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref NodeId);
        codec.Field(ref AttributeId);
        codec.Field(ref IndexRange);
        codec.Field(ref DataEncoding);
    }
}

/// <summary>An attribute to write (OPC 10000-4, 5.11.4).</summary>
internal struct WriteValue : IStructure
{
    public NodeId NodeId;
    public uint AttributeId;
    public string? IndexRange;
    public DataValue Value;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref NodeId);
        codec.Field(ref AttributeId);
        codec.Field(ref IndexRange);
        codec.Field(ref Value);
    }
}

/// <summary>Reads attributes (OPC 10000-4, 5.11.2).</summary>
internal struct ReadRequest : IServiceMessage
{
    public double MaxAge;
    public TimestampsToReturn TimestampsToReturn;
    public ReadValueId[]? NodesToRead;

    public const ushort EncodingIdNumber = 631;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref MaxAge);
        codec.Enumeration(ref TimestampsToReturn);
        codec.Structures(ref NodesToRead);
    }
}

/// <summary>Answers <see cref="ReadRequest"/>.</summary>
internal struct ReadResponse : IServiceMessage
{
    public DataValue[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 634;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>Writes attributes (OPC 10000-4, 5.11.4).</summary>
internal struct WriteRequest : IServiceMessage
{
    public WriteValue[]? NodesToWrite;

    public const ushort EncodingIdNumber = 673;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref NodesToWrite);
    }
}

/// <summary>Answers <see cref="WriteRequest"/>.</summary>
internal struct WriteResponse : IServiceMessage
{
    public StatusCode[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 676;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}
