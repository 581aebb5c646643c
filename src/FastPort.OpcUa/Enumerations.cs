namespace FastPort.OpcUa;

/// <summary>How messages of a secure channel are protected (OPC 10000-4, 7.20).</summary>
public enum MessageSecurityMode
{
    /// <summary>Not a mode.</summary>
    Invalid = 0,

    /// <summary>Neither signed nor encrypted.</summary>
    None = 1,

    /// <summary>Signed.</summary>
    Sign = 2,

    /// <summary>Signed and encrypted.</summary>
    SignAndEncrypt = 3,
}

/// <summary>The kind of an application (OPC 10000-4, 7.4).</summary>
public enum ApplicationType
{
    /// <summary>A server.</summary>
    Server = 0,

    /// <summary>A client.</summary>
    Client = 1,

    /// <summary>Both.</summary>
    ClientAndServer = 2,

    /// <summary>A discovery server.</summary>
    DiscoveryServer = 3,
}

/// <summary>The kind of a user's token (OPC 10000-4, 7.42).</summary>
public enum UserTokenType
{
    /// <summary>No user.</summary>
    Anonymous = 0,

    /// <summary>Name and password.</summary>
    UserName = 1,

    /// <summary>An X.509 certificate.</summary>
    Certificate = 2,

    /// <summary>A token of another service.</summary>
    IssuedToken = 3,
}

/// <summary>Which timestamps a response has (OPC 10000-4, 7.40).</summary>
public enum TimestampsToReturn
{
    /// <summary>The source's.</summary>
    Source = 0,

    /// <summary>The server's.</summary>
    Server = 1,

    /// <summary>Both.</summary>
    Both = 2,

    /// <summary>None.</summary>
    Neither = 3,
}

/// <summary>Which references are followed (OPC 10000-4, 7.5).</summary>
public enum BrowseDirection
{
    /// <summary>Those that begin at the node.</summary>
    Forward = 0,

    /// <summary>Those that end at the node.</summary>
    Inverse = 1,

    /// <summary>Both.</summary>
    Both = 2,
}

/// <summary>What happens to the values of a monitored item (OPC 10000-4, 7.23).</summary>
public enum MonitoringMode
{
    /// <summary>The item is not sampled.</summary>
    Disabled = 0,

    /// <summary>Values are sampled and queued.</summary>
    Sampling = 1,

    /// <summary>Values are sampled, queued and reported.</summary>
    Reporting = 2,
}

/// <summary>What counts as a change (OPC 10000-4, 7.22.2).</summary>
public enum DataChangeTrigger
{
    /// <summary>A different status.</summary>
    Status = 0,

    /// <summary>A different status or value.</summary>
    StatusValue = 1,

    /// <summary>A different status, value or source timestamp.</summary>
    StatusValueTimestamp = 2,
}

/// <summary>The state of a server (OPC 10000-5, 12.6).</summary>
public enum ServerState
{
    /// <summary>Normal operation.</summary>
    Running = 0,

    /// <summary>A fatal error.</summary>
    Failed = 1,

    /// <summary>Not configured.</summary>
    NoConfiguration = 2,

    /// <summary>Switched off.</summary>
    Suspended = 3,

    /// <summary>Stopping.</summary>
    Shutdown = 4,

    /// <summary>In test.</summary>
    Test = 5,

    /// <summary>No connection to the sources.</summary>
    CommunicationFault = 6,

    /// <summary>Unknown.</summary>
    Unknown = 7,
}

/// <summary>The class of a node; as a mask, several classes (OPC 10000-3, 8.29).</summary>
[Flags]
public enum NodeClass
{
    /// <summary>No class; as a mask, all.</summary>
    Unspecified = 0,

    /// <summary>An object.</summary>
    Object = 1,

    /// <summary>A variable.</summary>
    Variable = 2,

    /// <summary>A method.</summary>
    Method = 4,

    /// <summary>A type of objects.</summary>
    ObjectType = 8,

    /// <summary>A type of variables.</summary>
    VariableType = 16,

    /// <summary>A type of references.</summary>
    ReferenceType = 32,

    /// <summary>A type of values.</summary>
    DataType = 64,

    /// <summary>A view.</summary>
    View = 128,
}

/// <summary>The attributes of nodes, by their numbers (OPC 10000-6, annex A).</summary>
public enum AttributeId
{
    /// <summary>The node id.</summary>
    NodeId = 1,

    /// <summary>The node class.</summary>
    NodeClass = 2,

    /// <summary>The name in paths.</summary>
    BrowseName = 3,

    /// <summary>The display name.</summary>
    DisplayName = 4,

    /// <summary>The description.</summary>
    Description = 5,

    /// <summary>Which attributes can be written.</summary>
    WriteMask = 6,

    /// <summary>Which attributes this user can write.</summary>
    UserWriteMask = 7,

    /// <summary>Whether a type has no instances.</summary>
    IsAbstract = 8,

    /// <summary>Whether a reference type is the same in both directions.</summary>
    Symmetric = 9,

    /// <summary>The name of a reference type seen from its target.</summary>
    InverseName = 10,

    /// <summary>Whether a view has no loops.</summary>
    ContainsNoLoops = 11,

    /// <summary>Whether an object or view has events.</summary>
    EventNotifier = 12,

    /// <summary>The value of a variable.</summary>
    Value = 13,

    /// <summary>The data type of the value.</summary>
    DataType = 14,

    /// <summary>The number of dimensions of the value.</summary>
    ValueRank = 15,

    /// <summary>The lengths of the dimensions.</summary>
    ArrayDimensions = 16,

    /// <summary>How the value can be accessed.</summary>
    AccessLevel = 17,

    /// <summary>How this user can access the value.</summary>
    UserAccessLevel = 18,

    /// <summary>The shortest sampling interval in milliseconds.</summary>
    MinimumSamplingInterval = 19,

    /// <summary>Whether history is recorded.</summary>
    Historizing = 20,

    /// <summary>Whether a method can be called.</summary>
    Executable = 21,

    /// <summary>Whether this user can call a method.</summary>
    UserExecutable = 22,

    /// <summary>The definition of a structure or enumeration.</summary>
    DataTypeDefinition = 23,

    /// <summary>The permissions of roles.</summary>
    RolePermissions = 24,

    /// <summary>The permissions of this user's roles.</summary>
    UserRolePermissions = 25,

    /// <summary>The restrictions of access.</summary>
    AccessRestrictions = 26,

    /// <summary>More ways of access.</summary>
    AccessLevelEx = 27,
}
