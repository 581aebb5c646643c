using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>Asks which servers a discovery endpoint knows (OPC 10000-4, 5.5.2).</summary>
internal struct FindServersRequest : IServiceMessage
{
    public string? EndpointUrl;
    public string?[]? LocaleIds;
    public string?[]? ServerUris;

    public const ushort EncodingIdNumber = 422;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref EndpointUrl);
        codec.Array(ref LocaleIds);
        codec.Array(ref ServerUris);
    }
}

/// <summary>Answers <see cref="FindServersRequest"/>.</summary>
internal struct FindServersResponse : IServiceMessage
{
    public ApplicationDescription[]? Servers;

    public const ushort EncodingIdNumber = 425;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref Servers);
    }
}

/// <summary>Asks for the endpoints of a server (OPC 10000-4, 5.5.4).</summary>
internal struct GetEndpointsRequest : IServiceMessage
{
    public string? EndpointUrl;
    public string?[]? LocaleIds;
    public string?[]? ProfileUris;

    public const ushort EncodingIdNumber = 428;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref EndpointUrl);
        codec.Array(ref LocaleIds);
        codec.Array(ref ProfileUris);
    }
}

/// <summary>Answers <see cref="GetEndpointsRequest"/>.</summary>
internal struct GetEndpointsResponse : IServiceMessage
{
    public EndpointDescription[]? Endpoints;

    public const ushort EncodingIdNumber = 431;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structures(ref Endpoints);
    }
}
