using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>The token of a secure channel (OPC 10000-4, 5.6.2).</summary>
internal struct ChannelSecurityToken : IStructure
{
    public uint ChannelId;
    public uint TokenId;
    public DateTime CreatedAt;
    public uint RevisedLifetime;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ChannelId);
        codec.Field(ref TokenId);
        codec.Field(ref CreatedAt);
        codec.Field(ref RevisedLifetime);
    }
}

/// <summary>Opens a secure channel or renews its token (OPC 10000-4, 5.6.2).</summary>
internal struct OpenSecureChannelRequest : IServiceMessage
{
    public uint ClientProtocolVersion;
    public SecurityTokenRequestType RequestType;
    public MessageSecurityMode SecurityMode;
    public ByteString ClientNonce;
    public uint RequestedLifetime;

    public const ushort EncodingIdNumber = 446;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ClientProtocolVersion);
        codec.Enumeration(ref RequestType);
        codec.Enumeration(ref SecurityMode);
        codec.Field(ref ClientNonce);
        codec.Field(ref RequestedLifetime);
    }
}

/// <summary>Answers <see cref="OpenSecureChannelRequest"/>.</summary>
internal struct OpenSecureChannelResponse : IServiceMessage
{
    public uint ServerProtocolVersion;
    public ChannelSecurityToken SecurityToken;
    public ByteString ServerNonce;

    public const ushort EncodingIdNumber = 449;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ServerProtocolVersion);
        codec.Structure(ref SecurityToken);
        codec.Field(ref ServerNonce);
    }
}

/// <summary>Ends a secure channel; there is no response (OPC 10000-4, 5.6.3).</summary>
internal struct CloseSecureChannelRequest : IServiceMessage
{
    public const ushort EncodingIdNumber = 452;

    public static ushort EncodingId => EncodingIdNumber;

    readonly void IStructure.Code<T>(ref T codec)
    {
    }
}
