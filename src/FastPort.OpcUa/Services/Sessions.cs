using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>A signature and the URI of its algorithm (OPC 10000-4, 7.37).</summary>
internal struct SignatureData : IStructure
{
    public string? Algorithm;
    public ByteString Signature;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref Algorithm);
        codec.Field(ref Signature);
    }
}

/// <summary>A software certificate; not used (OPC 10000-4, 7.38).</summary>
internal struct SignedSoftwareCertificate : IStructure
{
    public ByteString CertificateData;
    public ByteString Signature;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref CertificateData);
        codec.Field(ref Signature);
    }
}

/// <summary>Creates a session (OPC 10000-4, 5.7.2).</summary>
internal struct CreateSessionRequest : IServiceMessage
{
    public ApplicationDescription ClientDescription;
    public string? ServerUri;
    public string? EndpointUrl;
    public string? SessionName;
    public ByteString ClientNonce;
    public ByteString ClientCertificate;
    public double RequestedSessionTimeout;

    /// <summary>Ignored: node-opcua's clients always send 800,000 and accept more. The limits of Hello hold.</summary>
    public uint MaxResponseMessageSize;

    public const ushort EncodingIdNumber = 461;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structure(ref ClientDescription);
        codec.Field(ref ServerUri);
        codec.Field(ref EndpointUrl);
        codec.Field(ref SessionName);
        codec.Field(ref ClientNonce);
        codec.Field(ref ClientCertificate);
        codec.Field(ref RequestedSessionTimeout);
        codec.Field(ref MaxResponseMessageSize);
    }
}

/// <summary>Answers <see cref="CreateSessionRequest"/>.</summary>
internal struct CreateSessionResponse : IServiceMessage
{
    public NodeId SessionId;
    public NodeId AuthenticationToken;
    public double RevisedSessionTimeout;
    public ByteString ServerNonce;
    public ByteString ServerCertificate;
    public EndpointDescription[]? ServerEndpoints;
    public SignedSoftwareCertificate[]? ServerSoftwareCertificates;
    public SignatureData ServerSignature;

    /// <summary>Ignored: the servers of Python's asyncua always send 65,536 and accept more. The limits of Acknowledge hold.</summary>
    public uint MaxRequestMessageSize;

    public const ushort EncodingIdNumber = 464;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref SessionId);
        codec.Field(ref AuthenticationToken);
        codec.Field(ref RevisedSessionTimeout);
        codec.Field(ref ServerNonce);
        codec.Field(ref ServerCertificate);
        codec.Structures(ref ServerEndpoints);
        codec.Structures(ref ServerSoftwareCertificates);
        codec.Structure(ref ServerSignature);
        codec.Field(ref MaxRequestMessageSize);
    }
}

/// <summary>Gives a session its user and its secure channel (OPC 10000-4, 5.7.3).</summary>
internal struct ActivateSessionRequest : IServiceMessage
{
    public SignatureData ClientSignature;
    public SignedSoftwareCertificate[]? ClientSoftwareCertificates;
    public string?[]? LocaleIds;
    public ExtensionObject? UserIdentityToken;
    public SignatureData UserTokenSignature;

    public const ushort EncodingIdNumber = 467;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Structure(ref ClientSignature);
        codec.Structures(ref ClientSoftwareCertificates);
        codec.Array(ref LocaleIds);
        codec.Field(ref UserIdentityToken);
        codec.Structure(ref UserTokenSignature);
    }
}

/// <summary>Answers <see cref="ActivateSessionRequest"/>.</summary>
internal struct ActivateSessionResponse : IServiceMessage
{
    public ByteString ServerNonce;
    public StatusCode[]? Results;
    public DiagnosticInfo?[]? DiagnosticInfos;

    public const ushort EncodingIdNumber = 470;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ServerNonce);
        codec.Array(ref Results);
        codec.Array(ref DiagnosticInfos);
    }
}

/// <summary>Ends a session (OPC 10000-4, 5.7.4).</summary>
internal struct CloseSessionRequest : IServiceMessage
{
    public bool DeleteSubscriptions;

    public const ushort EncodingIdNumber = 473;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref DeleteSubscriptions);
    }
}

/// <summary>Answers <see cref="CloseSessionRequest"/>.</summary>
internal struct CloseSessionResponse : IServiceMessage
{
    public const ushort EncodingIdNumber = 476;

    public static ushort EncodingId => EncodingIdNumber;

    readonly void IStructure.Code<T>(ref T codec)
    {
    }
}

/// <summary>Cancels requests by their handle (OPC 10000-4, 5.7.5).</summary>
internal struct CancelRequest : IServiceMessage
{
    public uint RequestHandle;

    public const ushort EncodingIdNumber = 479;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref RequestHandle);
    }
}

/// <summary>Answers <see cref="CancelRequest"/>.</summary>
internal struct CancelResponse : IServiceMessage
{
    public uint CancelCount;

    public const ushort EncodingIdNumber = 482;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref CancelCount);
    }
}

/// <summary>No user (OPC 10000-4, 7.41.3).</summary>
internal struct AnonymousIdentityToken : IServiceMessage
{
    public string? PolicyId;

    public const ushort EncodingIdNumber = 321;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref PolicyId);
    }
}

/// <summary>A user by name and password (OPC 10000-4, 7.41.4).</summary>
internal struct UserNameIdentityToken : IServiceMessage
{
    public string? PolicyId;
    public string? UserName;
    public ByteString Password;
    public string? EncryptionAlgorithm;

    public const ushort EncodingIdNumber = 324;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref PolicyId);
        codec.Field(ref UserName);
        codec.Field(ref Password);
        codec.Field(ref EncryptionAlgorithm);
    }
}

/// <summary>A user by certificate (OPC 10000-4, 7.41.5).</summary>
internal struct X509IdentityToken : IServiceMessage
{
    public string? PolicyId;
    public ByteString CertificateData;

    public const ushort EncodingIdNumber = 327;

    public static ushort EncodingId => EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref PolicyId);
        codec.Field(ref CertificateData);
    }
}
