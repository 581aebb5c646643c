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
    public const uint AlwaysGeneratesEvent = 3065;

    // Data types; those up to 25 are the built-in types' ids.
    public const uint Boolean = 1;
    public const uint Byte = 3;
    public const uint UInt16 = 5;
    public const uint UInt32 = 7;
    public const uint Double = 11;
    public const uint String = 12;
    public const uint DateTime = 13;
    public const uint LocalizedText = 21;
    public const uint Structure = 22;
    public const uint BaseDataType = 24;
    public const uint Number = 26;
    public const uint Integer = 27;
    public const uint UInteger = 28;
    public const uint Enumeration = 29;
    public const uint Duration = 290;
    public const uint UtcTime = 294;
    public const uint LocaleId = 295;
    public const uint Argument = 296;
    public const uint BuildInfo = 338;
    public const uint SignedSoftwareCertificate = 344;
    public const uint RedundancySupport = 851;
    public const uint ServerState = 852;
    public const uint ServerStatusDataType = 862;
    public const uint Range = 884;
    public const uint EUInformation = 887;

    // Properties and encodings of data types.
    public const uint RedundancySupportStrings = 7611;
    public const uint ServerStateStrings = 7612;
    public const ushort ArgumentEncoding = 298;
    public const ushort BuildInfoEncoding = 340;
    public const ushort SignedSoftwareCertificateEncoding = 346;
    public const ushort ServerStatusEncoding = 864;
    public const ushort RangeEncoding = 886;
    public const ushort EUInformationEncoding = 889;

    public const uint BaseObjectType = 58;
    public const uint FolderType = 61;
    public const uint DataTypeSystemType = 75;
    public const uint DataTypeEncodingType = 76;
    public const uint ModellingRuleType = 77;
    public const uint ServerType = 2004;
    public const uint ServerCapabilitiesType = 2013;
    public const uint ServerDiagnosticsType = 2020;
    public const uint VendorServerInfoType = 2033;
    public const uint ServerRedundancyType = 2034;
    public const uint BaseEventType = 2041;
    public const uint AggregateFunctionType = 2340;
    public const uint OperationLimitsType = 11564;
    public const uint NamespacesType = 11645;

    public const uint Mandatory = 78;
    public const uint Optional = 80;
    public const uint AnalogRange = 2369;

    public const uint BaseVariableType = 62;
    public const uint BaseDataVariableType = 63;
    public const uint PropertyType = 68;
    public const uint ServerStatusType = 2138;
    public const uint DataItemType = 2365;
    public const uint AnalogItemType = 2368;
    public const uint BuildInfoType = 3051;
    public const uint BaseAnalogType = 15318;

    public const uint RootFolder = 84;
    public const uint ObjectsFolder = 85;
    public const uint TypesFolder = 86;
    public const uint ViewsFolder = 87;
    public const uint ObjectTypesFolder = 88;
    public const uint VariableTypesFolder = 89;
    public const uint DataTypesFolder = 90;
    public const uint ReferenceTypesFolder = 91;
    public const uint XmlSchemaTypeSystem = 92;
    public const uint OpcBinaryTypeSystem = 93;
    public const uint EventTypesFolder = 3048;

    public const uint Server = 2253;
    public const uint ServerArray = 2254;
    public const uint NamespaceArray = 2255;
    public const uint ServerStatus = 2256;
    public const uint StartTime = 2257;
    public const uint CurrentTime = 2258;
    public const uint State = 2259;
    public const uint BuildInfoValue = 2260;
    public const uint ProductName = 2261;
    public const uint ProductUri = 2262;
    public const uint ManufacturerName = 2263;
    public const uint SoftwareVersion = 2264;
    public const uint BuildNumber = 2265;
    public const uint BuildDate = 2266;
    public const uint ServiceLevel = 2267;
    public const uint SecondsTillShutdown = 2992;
    public const uint ShutdownReason = 2993;
    public const uint Auditing = 2994;
    public const uint ServerDiagnostics = 2274;
    public const uint EnabledFlag = 2294;
    public const uint VendorServerInfo = 2295;
    public const uint ServerRedundancy = 2296;
    public const uint RedundancySupportValue = 3709;
    public const uint NamespacesObject = 11715;
    public const uint GetMonitoredItems = 11492;
    public const uint GetMonitoredItemsInputs = 11493;
    public const uint GetMonitoredItemsOutputs = 11494;
    public const uint ResendData = 12873;
    public const uint ResendDataInputs = 12874;

    public const uint ServerCapabilities = 2268;
    public const uint ServerProfileArray = 2269;
    public const uint LocaleIdArray = 2271;
    public const uint MinSupportedSampleRate = 2272;
    public const uint MaxBrowseContinuationPoints = 2735;
    public const uint MaxQueryContinuationPoints = 2736;
    public const uint MaxHistoryContinuationPoints = 2737;
    public const uint SoftwareCertificates = 3704;
    public const uint ModellingRules = 2996;
    public const uint AggregateFunctions = 2997;
    public const uint MaxArrayLength = 11702;
    public const uint MaxStringLength = 11703;
    public const uint MaxByteStringLength = 12911;
    public const uint MaxSessions = 24095;

    public const uint OperationLimits = 11704;
    public const uint MaxNodesPerRead = 11705;
    public const uint MaxNodesPerWrite = 11707;
    public const uint MaxNodesPerMethodCall = 11709;
    public const uint MaxNodesPerBrowse = 11710;
    public const uint MaxNodesPerRegisterNodes = 11711;
    public const uint MaxNodesPerTranslateBrowsePaths = 11712;
    public const uint MaxNodesPerNodeManagement = 11713;
    public const uint MaxMonitoredItemsPerCall = 11714;
}
