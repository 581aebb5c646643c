namespace FastPort.OpcUa.Server;

/// <summary>Numbers of the nodes of namespace 0 that this library names (OPC 10000-6, annex A).</summary>
internal static class NodeIds
{
    public const uint References = 31;
    public const uint NonHierarchicalReferences = 32;
    public const uint HierarchicalReferences = 33;
    public const uint HasChild = 34;
    public const uint Organizes = 35;
    public const uint HasEventSource = 36;
    public const uint HasModellingRule = 37;
    public const uint HasEncoding = 38;
    public const uint HasDescription = 39;
    public const uint HasTypeDefinition = 40;
    public const uint GeneratesEvent = 41;
    public const uint Aggregates = 44;
    public const uint HasSubtype = 45;
    public const uint HasProperty = 46;
    public const uint HasComponent = 47;
    public const uint HasNotifier = 48;
    public const uint HasOrderedComponent = 49;

    public const uint BaseDataType = 24;
    public const uint Number = 26;
    public const uint Integer = 27;
    public const uint UInteger = 28;
    public const uint Enumeration = 29;
    public const uint Structure = 22;
    public const uint UtcTime = 294;
    public const uint Duration = 290;
    public const uint LocaleId = 295;
    public const uint BuildInfo = 338;
    public const uint ServerStateType = 852;
    public const uint ServerStatusDataType = 862;
    public const uint Argument = 296;

    public const uint BaseObjectType = 58;
    public const uint FolderType = 61;
    public const uint BaseVariableType = 62;
    public const uint BaseDataVariableType = 63;
    public const uint PropertyType = 68;
    public const uint ServerType = 2004;
    public const uint ServerCapabilitiesType = 2013;
    public const uint ServerStatusType = 2138;
    public const uint BuildInfoType = 3051;
    public const uint OperationLimitsType = 11564;

    public const uint RootFolder = 84;
    public const uint ObjectsFolder = 85;
    public const uint TypesFolder = 86;
    public const uint ViewsFolder = 87;
    public const uint ObjectTypesFolder = 88;
    public const uint VariableTypesFolder = 89;
    public const uint DataTypesFolder = 90;
    public const uint ReferenceTypesFolder = 91;

    public const uint Server = 2253;
    public const uint ServerArray = 2254;
    public const uint NamespaceArray = 2255;
    public const uint ServerStatus = 2256;
    public const uint StartTime = 2257;
    public const uint CurrentTime = 2258;
    public const uint State = 2259;
    public const uint BuildInfoValue = 2260;
    public const uint ServiceLevel = 2267;
    public const uint Auditing = 2994;
    public const uint ServerCapabilities = 2268;
    public const uint ServerProfileArray = 2269;
    public const uint LocaleIdArray = 2271;
    public const uint MinSupportedSampleRate = 2272;
    public const uint MaxBrowseContinuationPoints = 2735;
    public const uint OperationLimits = 11704;
    public const uint MaxNodesPerRead = 11705;
    public const uint MaxNodesPerWrite = 11707;
    public const uint MaxNodesPerMethodCall = 11709;
    public const uint MaxNodesPerBrowse = 11710;
    public const uint MaxNodesPerRegisterNodes = 11711;
    public const uint MaxNodesPerTranslateBrowsePaths = 11712;
    public const uint MaxMonitoredItemsPerCall = 11714;
    public const uint MaxArrayLength = 11702;
    public const uint MaxStringLength = 11703;
    public const uint MaxByteStringLength = 12911;
    public const uint ServerStatusEncoding = 864;
    public const uint BuildInfoEncoding = 340;
}
