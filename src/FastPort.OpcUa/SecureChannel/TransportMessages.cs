using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>The client's first message: what it can receive and send (OPC 10000-6, 7.1.2.3).</summary>
internal struct HelloMessage : IStructure
{
    public uint ProtocolVersion;
    public uint ReceiveBufferSize;
    public uint SendBufferSize;
    public uint MaxMessageSize;
    public uint MaxChunkCount;
    public string? EndpointUrl;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ProtocolVersion);
        codec.Field(ref ReceiveBufferSize);
        codec.Field(ref SendBufferSize);
        codec.Field(ref MaxMessageSize);
        codec.Field(ref MaxChunkCount);
        codec.Field(ref EndpointUrl);
    }
}

/// <summary>The server's answer to <see cref="HelloMessage"/> (OPC 10000-6, 7.1.2.4).</summary>
internal struct AcknowledgeMessage : IStructure
{
    public uint ProtocolVersion;
    public uint ReceiveBufferSize;
    public uint SendBufferSize;
    public uint MaxMessageSize;
    public uint MaxChunkCount;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ProtocolVersion);
        codec.Field(ref ReceiveBufferSize);
        codec.Field(ref SendBufferSize);
        codec.Field(ref MaxMessageSize);
        codec.Field(ref MaxChunkCount);
    }
}

/// <summary>The last message before a server closes a connection; also the body of an abort chunk (OPC 10000-6, 7.1.2.5).</summary>
internal struct ErrorMessage : IStructure
{
    public StatusCode Error;
    public string? Reason;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref Error);
        codec.Field(ref Reason);
    }
}
