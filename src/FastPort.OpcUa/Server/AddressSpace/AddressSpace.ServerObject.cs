using System.Reflection;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <content>The object Server: status, capabilities and limits (OPC 10000-5, 6.3 and 8.3).</content>
public sealed partial class AddressSpace
{
    private static readonly (uint Parent, uint Reference, uint Id, string Name, uint Type)[] ServerObjects =
    [
        (NodeIds.ObjectsFolder, NodeIds.Organizes, NodeIds.Server, "Server", NodeIds.ServerType),
        (NodeIds.Server, NodeIds.HasComponent, NodeIds.ServerCapabilities, "ServerCapabilities", NodeIds.ServerCapabilitiesType),
        (NodeIds.Server, NodeIds.HasComponent, NodeIds.ServerDiagnostics, "ServerDiagnostics", NodeIds.ServerDiagnosticsType),
        (NodeIds.Server, NodeIds.HasComponent, NodeIds.VendorServerInfo, "VendorServerInfo", NodeIds.VendorServerInfoType),
        (NodeIds.Server, NodeIds.HasComponent, NodeIds.ServerRedundancy, "ServerRedundancy", NodeIds.ServerRedundancyType),
        (NodeIds.Server, NodeIds.HasComponent, NodeIds.NamespacesObject, "Namespaces", NodeIds.NamespacesType),
        (NodeIds.ServerCapabilities, NodeIds.HasComponent, NodeIds.OperationLimits, "OperationLimits", NodeIds.OperationLimitsType),
        (NodeIds.ServerCapabilities, NodeIds.HasComponent, NodeIds.ModellingRules, "ModellingRules", NodeIds.FolderType),
        (NodeIds.ServerCapabilities, NodeIds.HasComponent, NodeIds.AggregateFunctions, "AggregateFunctions", NodeIds.FolderType),
    ];

    // When the server will have stopped accepting, in ticks of UTC; 0 while it is not stopping.
    private long _shutsDownAt;

    /// <summary>From now on the server's status is shutting down. False if it already was.</summary>
    /// <param name="at">When it will have stopped accepting.</param>
    internal bool TryShutDown(DateTimeOffset at) => Interlocked.CompareExchange(ref _shutsDownAt, at.UtcTicks, 0) == 0;

    /// <summary>Whether the value of a node reports that the server is shutting down.</summary>
    internal static bool TellsShutdown(NodeId node) => node.NamespaceIndex == 0
        && node.Number is (NodeIds.ServerStatus or NodeIds.State or NodeIds.SecondsTillShutdown);

    private void AddServer(OpcUaServerOptions options, TimeProvider time)
    {
        foreach ((uint parent, uint reference, uint id, string name, uint type) in ServerObjects)
        {
            AddStandard(new ObjectNode(new NodeId(0, id), name), parent, reference, type);
        }

        AddStatus(options, time);
        AddServerProperties(options);
        AddLimits(options);
        AddServerMethods();
    }

    // Computed when they are read: the structure and its components agree without being kept up to date.
    private void AddStatus(OpcUaServerOptions options, TimeProvider time)
    {
        string version =
            typeof(AddressSpace).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion ?? "0";
        var build = new BuildInfo
        {
            ProductUri = options.ProductUri,
            ManufacturerName = "FastPort",
            ProductName = options.ApplicationName,
            SoftwareVersion = version.Split('+')[0],
            BuildNumber = version,
        };
        ExtensionObject encodedBuild = build.ToExtensionObject();
        DateTime started = time.GetUtcNow().UtcDateTime;

        ServerStatusDataType Status() => new()
        {
            StartTime = started,
            CurrentTime = time.GetUtcNow().UtcDateTime,
            State = Volatile.Read(ref _shutsDownAt) == 0 ? ServerState.Running : ServerState.Shutdown,
            BuildInfo = build,
            SecondsTillShutdown = SecondsTillShutdown(time),
            ShutdownReason = new LocalizedText(null, string.Empty),
        };

        const uint Type = NodeIds.BaseDataVariableType;
        (uint Parent, uint Id, string Name, uint DataType, uint VariableType, Func<Variant> Value)[] components =
        [
            (NodeIds.Server, NodeIds.ServerStatus, "ServerStatus", NodeIds.ServerStatusDataType, NodeIds.ServerStatusType,
                () => Variant.From(Status().ToExtensionObject())),
            (NodeIds.ServerStatus, NodeIds.StartTime, "StartTime", NodeIds.UtcTime, Type, () => Status().StartTime),
            (NodeIds.ServerStatus, NodeIds.CurrentTime, "CurrentTime", NodeIds.UtcTime, Type, () => Status().CurrentTime),
            (NodeIds.ServerStatus, NodeIds.State, "State", NodeIds.ServerState, Type, () => (int)Status().State),
            (NodeIds.ServerStatus, NodeIds.SecondsTillShutdown, "SecondsTillShutdown", NodeIds.UInt32, Type,
                () => Status().SecondsTillShutdown),
            (NodeIds.ServerStatus, NodeIds.ShutdownReason, "ShutdownReason", NodeIds.LocalizedText, Type,
                () => Variant.From(Status().ShutdownReason)),
            (NodeIds.ServerStatus, NodeIds.BuildInfoValue, "BuildInfo", NodeIds.BuildInfo, NodeIds.BuildInfoType,
                () => Variant.From(encodedBuild)),
            (NodeIds.BuildInfoValue, NodeIds.ProductUri, "ProductUri", NodeIds.String, Type, () => build.ProductUri),
            (NodeIds.BuildInfoValue, NodeIds.ManufacturerName, "ManufacturerName", NodeIds.String, Type, () => build.ManufacturerName),
            (NodeIds.BuildInfoValue, NodeIds.ProductName, "ProductName", NodeIds.String, Type, () => build.ProductName),
            (NodeIds.BuildInfoValue, NodeIds.SoftwareVersion, "SoftwareVersion", NodeIds.String, Type, () => build.SoftwareVersion),
            (NodeIds.BuildInfoValue, NodeIds.BuildNumber, "BuildNumber", NodeIds.String, Type, () => build.BuildNumber),
            (NodeIds.BuildInfoValue, NodeIds.BuildDate, "BuildDate", NodeIds.UtcTime, Type, () => build.BuildDate),
        ];
        foreach ((uint parent, uint id, string name, uint dataType, uint variableType, Func<Variant> value) in components)
        {
            var node = new VariableNode(new NodeId(0, id), name, value().Type, new NodeId(0, dataType), valueRank: -1)
            {
                OnRead = () => new DataValue(value(), StatusCodes.Good, time.GetUtcNow().UtcDateTime),
            };
            AddStandard(node, parent, NodeIds.HasComponent, variableType);
        }
    }

    private uint SecondsTillShutdown(TimeProvider time)
    {
        double left = TimeSpan.FromTicks(Volatile.Read(ref _shutsDownAt) - time.GetUtcNow().Ticks).TotalSeconds;
        return (uint)Math.Max(Math.Ceiling(left), 0);
    }

    private void AddServerProperties(OpcUaServerOptions options)
    {
        // Only the certain part: the transport. A profile of the whole server may be claimed only after certification.
        string[] profiles = ["http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary"];
        (uint Parent, uint Id, string Name, uint DataType, Variant Value)[] properties =
        [
            (NodeIds.Server, NodeIds.ServerArray, "ServerArray", NodeIds.String, Variant.FromArray<string>([options.ApplicationUri])),
            (NodeIds.Server, NodeIds.NamespaceArray, "NamespaceArray", NodeIds.String, Variant.FromArray(_namespaces)),
            (NodeIds.Server, NodeIds.ServiceLevel, "ServiceLevel", NodeIds.Byte, byte.MaxValue),
            (NodeIds.Server, NodeIds.Auditing, "Auditing", NodeIds.Boolean, false),
            (NodeIds.ServerDiagnostics, NodeIds.EnabledFlag, "EnabledFlag", NodeIds.Boolean, false),
            (NodeIds.ServerRedundancy, NodeIds.RedundancySupportValue, "RedundancySupport", NodeIds.RedundancySupport, 0),
            (NodeIds.ServerCapabilities, NodeIds.ServerProfileArray, "ServerProfileArray", NodeIds.String, Variant.FromArray(profiles)),
            (NodeIds.ServerCapabilities, NodeIds.LocaleIdArray, "LocaleIdArray", NodeIds.LocaleId, Variant.FromArray<string>([])),
            (NodeIds.ServerCapabilities, NodeIds.MinSupportedSampleRate, "MinSupportedSampleRate", NodeIds.Duration, 0.0),
            (NodeIds.ServerCapabilities, NodeIds.SoftwareCertificates, "SoftwareCertificates", NodeIds.SignedSoftwareCertificate,
                Variant.FromArray<ExtensionObject>([])),
        ];
        foreach ((uint parent, uint id, string name, uint dataType, Variant value) in properties)
        {
            AddProperty(parent, id, name, dataType, value);
        }
    }

    // The limits that the server enforces. 0 means "no limit", or for unsupported services "not relevant".
    private void AddLimits(OpcUaServerOptions options)
    {
        (uint Id, string Name, int Value)[] lengths =
        [
            (NodeIds.MaxArrayLength, "MaxArrayLength", Math.Min(EncodingLimits.Default.MaxArrayLength, options.MaxMessageBytes)),
            (NodeIds.MaxStringLength, "MaxStringLength", options.MaxMessageBytes),
            (NodeIds.MaxByteStringLength, "MaxByteStringLength", options.MaxMessageBytes),
            (NodeIds.MaxSessions, "MaxSessions", options.MaxSessions),
        ];
        (uint Id, string Name, int Value)[] continuationPoints =
        [
            (NodeIds.MaxBrowseContinuationPoints, "MaxBrowseContinuationPoints", options.MaxBrowseContinuationPoints),
            (NodeIds.MaxQueryContinuationPoints, "MaxQueryContinuationPoints", 0),
            (NodeIds.MaxHistoryContinuationPoints, "MaxHistoryContinuationPoints", 0),
        ];
        (uint Id, string Name, int Value)[] operations =
        [
            (NodeIds.MaxNodesPerRead, "MaxNodesPerRead", options.MaxNodesPerRead),
            (NodeIds.MaxNodesPerWrite, "MaxNodesPerWrite", options.MaxNodesPerWrite),
            (NodeIds.MaxNodesPerMethodCall, "MaxNodesPerMethodCall", options.MaxMethodsPerCall),
            (NodeIds.MaxNodesPerBrowse, "MaxNodesPerBrowse", options.MaxNodesPerBrowse),
            (NodeIds.MaxNodesPerRegisterNodes, "MaxNodesPerRegisterNodes", options.MaxNodesPerBrowse),
            (NodeIds.MaxNodesPerTranslateBrowsePaths, "MaxNodesPerTranslateBrowsePathsToNodeIds", options.MaxNodesPerBrowse),
            (NodeIds.MaxNodesPerNodeManagement, "MaxNodesPerNodeManagement", 0),
            (NodeIds.MaxMonitoredItemsPerCall, "MaxMonitoredItemsPerCall", options.MaxMonitoredItemsPerCall),
        ];
        foreach ((uint id, string name, int value) in lengths)
        {
            AddProperty(NodeIds.ServerCapabilities, id, name, NodeIds.UInt32, (uint)value);
        }

        foreach ((uint id, string name, int value) in continuationPoints)
        {
            AddProperty(NodeIds.ServerCapabilities, id, name, NodeIds.UInt16, (ushort)Math.Min(value, ushort.MaxValue));
        }

        foreach ((uint id, string name, int value) in operations)
        {
            AddProperty(NodeIds.OperationLimits, id, name, NodeIds.UInt32, (uint)value);
        }
    }

    private void UpdateNamespaces() =>
        ((VariableNode)Standard(NodeIds.NamespaceArray)).Value = Variant.FromArray(_namespaces);
}
