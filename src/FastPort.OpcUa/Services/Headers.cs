using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>The first part of every request (OPC 10000-4, 7.33).</summary>
internal struct RequestHeader : IStructure
{
    public NodeId AuthenticationToken;
    public DateTime Timestamp;
    public uint RequestHandle;
    public uint ReturnDiagnostics;
    public string? AuditEntryId;
    public uint TimeoutHint;
    public ExtensionObject? AdditionalHeader;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref AuthenticationToken);
        codec.Field(ref Timestamp);
        codec.Field(ref RequestHandle);
        codec.Field(ref ReturnDiagnostics);
        codec.Field(ref AuditEntryId);
        codec.Field(ref TimeoutHint);
        codec.Field(ref AdditionalHeader);
    }
}

/// <summary>The first part of every response (OPC 10000-4, 7.34).</summary>
internal struct ResponseHeader : IStructure
{
    public DateTime Timestamp;
    public uint RequestHandle;
    public StatusCode ServiceResult;
    public DiagnosticInfo? ServiceDiagnostics;
    public string?[]? StringTable;
    public ExtensionObject? AdditionalHeader;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref Timestamp);
        codec.Field(ref RequestHandle);
        codec.Field(ref ServiceResult);
        codec.Field(ref ServiceDiagnostics);
        codec.Array(ref StringTable);
        codec.Field(ref AdditionalHeader);
    }
}

/// <summary>The response of a service that failed as a whole (OPC 10000-4, 7.35).</summary>
internal struct ServiceFault : IServiceMessage
{
    public const ushort EncodingIdNumber = 397;

    public static ushort EncodingId => EncodingIdNumber;

    readonly void IStructure.Code<T>(ref T codec)
    {
    }
}
