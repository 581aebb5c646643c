using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>A method to call (OPC 10000-4, 5.12.2).</summary>
internal struct CallMethodRequest : IStructure
{
    public NodeId ObjectId;
    public NodeId MethodId;
    public Variant[]? InputArguments;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ObjectId);
        codec.Field(ref MethodId);
        codec.Array(ref InputArguments);
    }
}

/// <summary>The result of a method (OPC 10000-4, 5.12.2).</summary>
internal struct CallMethodResult : IStructure
{
    public StatusCode StatusCode;
    public StatusCode[]? InputArgumentResults;
    public DiagnosticInfo?[]? InputArgumentDiagnosticInfos;
    public Variant[]? OutputArguments;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref StatusCode);
        codec.Array(ref InputArgumentResults);
        codec.Array(ref InputArgumentDiagnosticInfos);
        codec.Array(ref OutputArguments);
    }
}

/// <summary>Calls methods (OPC 10000-4, 5.12.2).</summary>
internal struct CallRequest : IServiceMessage
{
    public CallMethodRequest[]? MethodsToCall;

    public const ushort EncodingIdNumber = 712;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref MethodsToCall);
    }
}

/// <summary>Answers <see cref="CallRequest"/>.</summary>
internal struct CallResponse : IServiceMessage
{
    public CallMethodResult[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 715;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}
