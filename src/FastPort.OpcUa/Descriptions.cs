using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa;

/// <summary>A kind of user token that an endpoint accepts (OPC 10000-4, 7.41).</summary>
public struct UserTokenPolicy : IStructure
{
    private string? _policyId;
    private UserTokenType _tokenType;
    private string? _issuedTokenType;
    private string? _issuerEndpointUrl;
    private string? _securityPolicyUri;

    /// <summary>Name of the policy, unique in the endpoint.</summary>
    public string? PolicyId
    {
        readonly get => _policyId;
        set => _policyId = value;
    }

    /// <summary>The kind of token.</summary>
    public UserTokenType TokenType
    {
        readonly get => _tokenType;
        set => _tokenType = value;
    }

    /// <summary>URI of the kind of an issued token; null for others.</summary>
    public string? IssuedTokenType
    {
        readonly get => _issuedTokenType;
        set => _issuedTokenType = value;
    }

    /// <summary>Where tokens are issued; null for others.</summary>
    public string? IssuerEndpointUrl
    {
        readonly get => _issuerEndpointUrl;
        set => _issuerEndpointUrl = value;
    }

    /// <summary>Policy that encrypts the token; null or empty for the endpoint's.</summary>
    public string? SecurityPolicyUri
    {
        readonly get => _securityPolicyUri;
        set => _securityPolicyUri = value;
    }

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref _policyId);
        codec.Enumeration(ref _tokenType);
        codec.Field(ref _issuedTokenType);
        codec.Field(ref _issuerEndpointUrl);
        codec.Field(ref _securityPolicyUri);
    }
}

/// <summary>An application (OPC 10000-4, 7.2).</summary>
public struct ApplicationDescription : IStructure
{
    private string? _applicationUri;
    private string? _productUri;
    private LocalizedText _applicationName;
    private ApplicationType _applicationType;
    private string? _gatewayServerUri;
    private string? _discoveryProfileUri;
    private string?[]? _discoveryUrls;

    /// <summary>Identifies the application instance; also in its certificate.</summary>
    public string? ApplicationUri
    {
        readonly get => _applicationUri;
        set => _applicationUri = value;
    }

    /// <summary>Identifies the product.</summary>
    public string? ProductUri
    {
        readonly get => _productUri;
        set => _productUri = value;
    }

    /// <summary>The display name.</summary>
    public LocalizedText ApplicationName
    {
        readonly get => _applicationName;
        set => _applicationName = value;
    }

    /// <summary>The kind of application.</summary>
    public ApplicationType ApplicationType
    {
        readonly get => _applicationType;
        set => _applicationType = value;
    }

    /// <summary>The gateway that must be used; null for none.</summary>
    public string? GatewayServerUri
    {
        readonly get => _gatewayServerUri;
        set => _gatewayServerUri = value;
    }

    /// <summary>The profile of the discovery URLs; null for none.</summary>
    public string? DiscoveryProfileUri
    {
        readonly get => _discoveryProfileUri;
        set => _discoveryProfileUri = value;
    }

    /// <summary>The URLs for requesting the endpoints.</summary>
    public string?[]? DiscoveryUrls
    {
        readonly get => _discoveryUrls;
        set => _discoveryUrls = value;
    }

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref _applicationUri);
        codec.Field(ref _productUri);
        codec.Field(ref _applicationName);
        codec.Enumeration(ref _applicationType);
        codec.Field(ref _gatewayServerUri);
        codec.Field(ref _discoveryProfileUri);
        codec.Array(ref _discoveryUrls);
    }
}

/// <summary>An endpoint of a server (OPC 10000-4, 7.14).</summary>
public struct EndpointDescription : IStructure
{
    private string? _endpointUrl;
    private ApplicationDescription _server;
    private ByteString _serverCertificate;
    private MessageSecurityMode _securityMode;
    private string? _securityPolicyUri;
    private UserTokenPolicy[]? _userIdentityTokens;
    private string? _transportProfileUri;
    private byte _securityLevel;

    /// <summary>The URL to connect to.</summary>
    public string? EndpointUrl
    {
        readonly get => _endpointUrl;
        set => _endpointUrl = value;
    }

    /// <summary>The server.</summary>
    public ApplicationDescription Server
    {
        readonly get => _server;
        set => _server = value;
    }

    /// <summary>The server's certificate (DER); null for none.</summary>
    public ByteString ServerCertificate
    {
        readonly get => _serverCertificate;
        set => _serverCertificate = value;
    }

    /// <summary>How messages are protected.</summary>
    public MessageSecurityMode SecurityMode
    {
        readonly get => _securityMode;
        set => _securityMode = value;
    }

    /// <summary>The security policy.</summary>
    public string? SecurityPolicyUri
    {
        readonly get => _securityPolicyUri;
        set => _securityPolicyUri = value;
    }

    /// <summary>The kinds of user tokens that are accepted.</summary>
    public UserTokenPolicy[]? UserIdentityTokens
    {
        readonly get => _userIdentityTokens;
        set => _userIdentityTokens = value;
    }

    /// <summary>The transport and encoding.</summary>
    public string? TransportProfileUri
    {
        readonly get => _transportProfileUri;
        set => _transportProfileUri = value;
    }

    /// <summary>A higher number is more secure, by the server's judgement.</summary>
    public byte SecurityLevel
    {
        readonly get => _securityLevel;
        set => _securityLevel = value;
    }

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref _endpointUrl);
        codec.Structure(ref _server);
        codec.Field(ref _serverCertificate);
        codec.Enumeration(ref _securityMode);
        codec.Field(ref _securityPolicyUri);
        codec.Structures(ref _userIdentityTokens);
        codec.Field(ref _transportProfileUri);
        codec.Field(ref _securityLevel);
    }
}

/// <summary>A reference found by browsing (OPC 10000-4, 7.30).</summary>
public struct ReferenceDescription : IStructure
{
    private NodeId _referenceTypeId;
    private bool _isForward;
    private ExpandedNodeId _nodeId;
    private QualifiedName _browseName;
    private LocalizedText _displayName;
    private NodeClass _nodeClass;
    private ExpandedNodeId _typeDefinition;

    /// <summary>The type of the reference.</summary>
    public NodeId ReferenceTypeId
    {
        readonly get => _referenceTypeId;
        set => _referenceTypeId = value;
    }

    /// <summary>Whether the reference begins at the browsed node.</summary>
    public bool IsForward
    {
        readonly get => _isForward;
        set => _isForward = value;
    }

    /// <summary>The node at the other end.</summary>
    public ExpandedNodeId NodeId
    {
        readonly get => _nodeId;
        set => _nodeId = value;
    }

    /// <summary>The node's name in paths.</summary>
    public QualifiedName BrowseName
    {
        readonly get => _browseName;
        set => _browseName = value;
    }

    /// <summary>The node's display name.</summary>
    public LocalizedText DisplayName
    {
        readonly get => _displayName;
        set => _displayName = value;
    }

    /// <summary>The node's class.</summary>
    public NodeClass NodeClass
    {
        readonly get => _nodeClass;
        set => _nodeClass = value;
    }

    /// <summary>The node's type; null for types and methods.</summary>
    public ExpandedNodeId TypeDefinition
    {
        readonly get => _typeDefinition;
        set => _typeDefinition = value;
    }

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref _referenceTypeId);
        codec.Field(ref _isForward);
        codec.Field(ref _nodeId);
        codec.Field(ref _browseName);
        codec.Field(ref _displayName);
        codec.Enumeration(ref _nodeClass);
        codec.Field(ref _typeDefinition);
    }
}
