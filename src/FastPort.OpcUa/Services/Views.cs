using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>The view that is browsed; null ids for the whole address space (OPC 10000-4, 7.45).</summary>
internal struct ViewDescription : IStructure
{
    public NodeId ViewId;
    public DateTime Timestamp;
    public uint ViewVersion;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ViewId);
        codec.Field(ref Timestamp);
        codec.Field(ref ViewVersion);
    }
}

/// <summary>What to browse from one node (OPC 10000-4, 5.9.2).</summary>
internal struct BrowseDescription : IStructure
{
    public NodeId NodeId;
    public BrowseDirection BrowseDirection;
    public NodeId ReferenceTypeId;
    public bool IncludeSubtypes;
    public uint NodeClassMask;
    public uint ResultMask;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref NodeId);
        codec.Enumeration(ref BrowseDirection);
        codec.Field(ref ReferenceTypeId);
        codec.Field(ref IncludeSubtypes);
        codec.Field(ref NodeClassMask);
        codec.Field(ref ResultMask);
    }
}

/// <summary>The references of one node (OPC 10000-4, 7.6).</summary>
internal struct BrowseResult : IStructure
{
    public StatusCode StatusCode;
    public ByteString ContinuationPoint;
    public ReferenceDescription[]? References;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref StatusCode);
        codec.Field(ref ContinuationPoint);
        codec.Structures(ref References);
    }
}

/// <summary>Asks for the references of nodes (OPC 10000-4, 5.9.2).</summary>
internal struct BrowseRequest : IServiceMessage
{
    public ViewDescription View;
    public uint RequestedMaxReferencesPerNode;
    public BrowseDescription[]? NodesToBrowse;

    public const ushort EncodingIdNumber = 527;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structure(ref View);
        codec.Field(ref RequestedMaxReferencesPerNode);
        codec.Structures(ref NodesToBrowse);
    }
}

/// <summary>Answers <see cref="BrowseRequest"/>.</summary>
internal struct BrowseResponse : IServiceMessage
{
    public BrowseResult[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 530;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>Asks for more references, or releases continuation points (OPC 10000-4, 5.9.3).</summary>
internal struct BrowseNextRequest : IServiceMessage
{
    public bool ReleaseContinuationPoints;
    public ByteString[]? ContinuationPoints;

    public const ushort EncodingIdNumber = 533;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ReleaseContinuationPoints);
        codec.Array(ref ContinuationPoints);
    }
}

/// <summary>Answers <see cref="BrowseNextRequest"/>.</summary>
internal struct BrowseNextResponse : IServiceMessage
{
    public BrowseResult[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 536;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>One step of a path (OPC 10000-4, 7.31).</summary>
internal struct RelativePathElement : IStructure
{
    public NodeId ReferenceTypeId;
    public bool IsInverse;
    public bool IncludeSubtypes;
    public QualifiedName TargetName;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ReferenceTypeId);
        codec.Field(ref IsInverse);
        codec.Field(ref IncludeSubtypes);
        codec.Field(ref TargetName);
    }
}

/// <summary>A path from a node (OPC 10000-4, 5.9.4).</summary>
internal struct BrowsePath : IStructure
{
    public NodeId StartingNode;
    public RelativePathElement[]? RelativePath;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref StartingNode);
        codec.Structures(ref RelativePath);
    }
}

/// <summary>A node that a path leads to (OPC 10000-4, 5.9.4).</summary>
internal struct BrowsePathTarget : IStructure
{
    public ExpandedNodeId TargetId;
    public uint RemainingPathIndex;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref TargetId);
        codec.Field(ref RemainingPathIndex);
    }
}

/// <summary>The nodes that a path leads to (OPC 10000-4, 5.9.4).</summary>
internal struct BrowsePathResult : IStructure
{
    public StatusCode StatusCode;
    public BrowsePathTarget[]? Targets;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref StatusCode);
        codec.Structures(ref Targets);
    }
}

/// <summary>Asks for the nodes of paths (OPC 10000-4, 5.9.4).</summary>
internal struct TranslateBrowsePathsRequest : IServiceMessage
{
    public BrowsePath[]? BrowsePaths;

    public const ushort EncodingIdNumber = 554;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref BrowsePaths);
    }
}

/// <summary>Answers <see cref="TranslateBrowsePathsRequest"/>.</summary>
internal struct TranslateBrowsePathsResponse : IServiceMessage
{
    public BrowsePathResult[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 557;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>Announces nodes that will be used often (OPC 10000-4, 5.9.5).</summary>
internal struct RegisterNodesRequest : IServiceMessage
{
    public NodeId[]? NodesToRegister;

    public const ushort EncodingIdNumber = 560;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref NodesToRegister);
    }
}

/// <summary>Answers <see cref="RegisterNodesRequest"/>.</summary>
internal struct RegisterNodesResponse : IServiceMessage
{
    public NodeId[]? RegisteredNodeIds;

    public const ushort EncodingIdNumber = 563;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref RegisteredNodeIds);
    }
}

/// <summary>Ends a registration (OPC 10000-4, 5.9.6).</summary>
internal struct UnregisterNodesRequest : IServiceMessage
{
    public NodeId[]? NodesToUnregister;

    public const ushort EncodingIdNumber = 566;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Array(ref NodesToUnregister);
    }
}

/// <summary>Answers <see cref="UnregisterNodesRequest"/>.</summary>
internal struct UnregisterNodesResponse : IServiceMessage
{
    public const ushort EncodingIdNumber = 569;

    public static ushort EncodingId => EncodingIdNumber;

    readonly void IStructure.Code<T>(ref T codec)
    {
    }
}
