namespace FastPort.OpcUa.Server;

/// <summary>The types of namespace 0 that clients look for (OPC 10000-5, 6 to 12; OPC 10000-8, 5.3). Each follows its supertype.</summary>
internal static class StandardTypes
{
    // A reference type without an inverse name is symmetric.
    public static readonly (uint Parent, uint Id, string Name, bool IsAbstract, string? InverseName)[] References =
    [
        (0, NodeIds.References, "References", true, null),
        (NodeIds.References, NodeIds.NonHierarchicalReferences, "NonHierarchicalReferences", true, null),
        (NodeIds.References, NodeIds.HierarchicalReferences, "HierarchicalReferences", true, "InverseHierarchicalReferences"),
        (NodeIds.HierarchicalReferences, NodeIds.HasChild, "HasChild", true, "ChildOf"),
        (NodeIds.HierarchicalReferences, NodeIds.Organizes, "Organizes", false, "OrganizedBy"),
        (NodeIds.HierarchicalReferences, NodeIds.HasEventSource, "HasEventSource", false, "EventSourceOf"),
        (NodeIds.HasEventSource, NodeIds.HasNotifier, "HasNotifier", false, "NotifierOf"),
        (NodeIds.HasChild, NodeIds.Aggregates, "Aggregates", true, "AggregatedBy"),
        (NodeIds.HasChild, NodeIds.HasSubtype, "HasSubtype", false, "SubtypeOf"),
        (NodeIds.Aggregates, NodeIds.HasProperty, "HasProperty", false, "PropertyOf"),
        (NodeIds.Aggregates, NodeIds.HasComponent, "HasComponent", false, "ComponentOf"),
        (NodeIds.HasComponent, NodeIds.HasOrderedComponent, "HasOrderedComponent", false, "OrderedComponentOf"),
        (NodeIds.NonHierarchicalReferences, NodeIds.HasModellingRule, "HasModellingRule", false, "ModellingRuleOf"),
        (NodeIds.NonHierarchicalReferences, NodeIds.HasEncoding, "HasEncoding", false, "EncodingOf"),
        (NodeIds.NonHierarchicalReferences, NodeIds.HasDescription, "HasDescription", false, "DescriptionOf"),
        (NodeIds.NonHierarchicalReferences, NodeIds.HasTypeDefinition, "HasTypeDefinition", false, "TypeDefinitionOf"),
        (NodeIds.NonHierarchicalReferences, NodeIds.GeneratesEvent, "GeneratesEvent", false, "GeneratedBy"),
        (NodeIds.GeneratesEvent, NodeIds.AlwaysGeneratesEvent, "AlwaysGeneratesEvent", false, "AlwaysGeneratedBy"),
    ];

    public static readonly (uint Parent, uint Id, string Name, bool IsAbstract)[] Objects =
    [
        (0, NodeIds.BaseObjectType, "BaseObjectType", false),
        (NodeIds.BaseObjectType, NodeIds.FolderType, "FolderType", false),
        (NodeIds.BaseObjectType, NodeIds.DataTypeSystemType, "DataTypeSystemType", false),
        (NodeIds.BaseObjectType, NodeIds.DataTypeEncodingType, "DataTypeEncodingType", false),
        (NodeIds.BaseObjectType, NodeIds.ModellingRuleType, "ModellingRuleType", false),
        (NodeIds.BaseObjectType, NodeIds.BaseEventType, "BaseEventType", true),
        (NodeIds.BaseObjectType, NodeIds.ServerType, "ServerType", false),
        (NodeIds.BaseObjectType, NodeIds.ServerCapabilitiesType, "ServerCapabilitiesType", false),
        (NodeIds.BaseObjectType, NodeIds.ServerDiagnosticsType, "ServerDiagnosticsType", false),
        (NodeIds.BaseObjectType, NodeIds.VendorServerInfoType, "VendorServerInfoType", false),
        (NodeIds.BaseObjectType, NodeIds.ServerRedundancyType, "ServerRedundancyType", false),
        (NodeIds.BaseObjectType, NodeIds.NamespacesType, "NamespacesType", false),
        (NodeIds.BaseObjectType, NodeIds.AggregateFunctionType, "AggregateFunctionType", false),
        (NodeIds.FolderType, NodeIds.OperationLimitsType, "OperationLimitsType", false),
    ];

    public static readonly (uint Parent, uint Id, string Name, bool IsAbstract, uint DataType, int ValueRank)[] Variables =
    [
        (0, NodeIds.BaseVariableType, "BaseVariableType", true, NodeIds.BaseDataType, -2),
        (NodeIds.BaseVariableType, NodeIds.BaseDataVariableType, "BaseDataVariableType", false, NodeIds.BaseDataType, -2),
        (NodeIds.BaseVariableType, NodeIds.PropertyType, "PropertyType", false, NodeIds.BaseDataType, -2),
        (NodeIds.BaseDataVariableType, NodeIds.ServerStatusType, "ServerStatusType", false, NodeIds.ServerStatusDataType, -1),
        (NodeIds.BaseDataVariableType, NodeIds.BuildInfoType, "BuildInfoType", false, NodeIds.BuildInfo, -1),
        (NodeIds.BaseDataVariableType, NodeIds.DataItemType, "DataItemType", false, NodeIds.BaseDataType, -2),
        (NodeIds.DataItemType, NodeIds.BaseAnalogType, "BaseAnalogType", false, NodeIds.Number, -2),
        (NodeIds.BaseAnalogType, NodeIds.AnalogItemType, "AnalogItemType", false, NodeIds.Number, -2),
    ];

    // The built-in types come between the abstract types and those derived from them.
    public static readonly (uint Parent, uint Id, string Name, bool IsAbstract)[] DataTypes =
    [
        (0, NodeIds.BaseDataType, "BaseDataType", true),
        (NodeIds.BaseDataType, NodeIds.Number, "Number", true),
        (NodeIds.Number, NodeIds.Integer, "Integer", true),
        (NodeIds.Number, NodeIds.UInteger, "UInteger", true),
        (NodeIds.BaseDataType, NodeIds.Enumeration, "Enumeration", true),
        .. BuiltIn(),
        (NodeIds.DateTime, NodeIds.UtcTime, "UtcTime", false),
        (NodeIds.Double, NodeIds.Duration, "Duration", false),
        (NodeIds.String, NodeIds.LocaleId, "LocaleId", false),
        (NodeIds.Enumeration, NodeIds.ServerState, "ServerState", false),
        (NodeIds.Enumeration, NodeIds.RedundancySupport, "RedundancySupport", false),
        (NodeIds.Structure, NodeIds.Argument, "Argument", false),
        (NodeIds.Structure, NodeIds.BuildInfo, "BuildInfo", false),
        (NodeIds.Structure, NodeIds.SignedSoftwareCertificate, "SignedSoftwareCertificate", false),
        (NodeIds.Structure, NodeIds.ServerStatusDataType, "ServerStatusDataType", false),
        (NodeIds.Structure, NodeIds.Range, "Range", false),
        (NodeIds.Structure, NodeIds.EUInformation, "EUInformation", false),
    ];

    /// <summary>The structures' binary encodings.</summary>
    public static readonly (uint DataType, uint Id)[] Encodings =
    [
        (NodeIds.Argument, NodeIds.ArgumentEncoding),
        (NodeIds.BuildInfo, NodeIds.BuildInfoEncoding),
        (NodeIds.SignedSoftwareCertificate, NodeIds.SignedSoftwareCertificateEncoding),
        (NodeIds.ServerStatusDataType, NodeIds.ServerStatusEncoding),
        (NodeIds.Range, NodeIds.RangeEncoding),
        (NodeIds.EUInformation, NodeIds.EUInformationEncoding),
    ];

    /// <summary>The enumerations' properties EnumStrings.</summary>
    public static readonly (uint DataType, uint Id, string[] Names)[] EnumStrings =
    [
        (NodeIds.ServerState, NodeIds.ServerStateStrings, Enum.GetNames<ServerState>()),
        (NodeIds.RedundancySupport, NodeIds.RedundancySupportStrings, ["None", "Cold", "Warm", "Hot", "Transparent", "HotAndMirrored"]),
    ];

    private static IEnumerable<(uint Parent, uint Id, string Name, bool IsAbstract)> BuiltIn()
    {
        for (BuiltInType type = BuiltInType.Boolean; type <= BuiltInType.DiagnosticInfo; type++)
        {
            uint parent = type switch
            {
                BuiltInType.SByte or BuiltInType.Int16 or BuiltInType.Int32 or BuiltInType.Int64 => NodeIds.Integer,
                BuiltInType.Byte or BuiltInType.UInt16 or BuiltInType.UInt32 or BuiltInType.UInt64 => NodeIds.UInteger,
                BuiltInType.Float or BuiltInType.Double => NodeIds.Number,
                _ => NodeIds.BaseDataType,
            };
            switch (type)
            {
                case BuiltInType.Variant:
                    // BaseDataType itself.
                    break;
                case BuiltInType.ExtensionObject:
                    yield return (parent, NodeIds.Structure, "Structure", true);
                    break;
                default:
                    yield return (parent, (uint)type, type.ToString(), false);
                    break;
            }
        }
    }
}
