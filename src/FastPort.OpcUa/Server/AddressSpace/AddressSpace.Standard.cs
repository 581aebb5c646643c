namespace FastPort.OpcUa.Server;

/// <content>The nodes of namespace 0 that clients look for (OPC 10000-5).</content>
public sealed partial class AddressSpace
{
    private readonly DateTime _started = DateTime.UtcNow;

    private void AddStandardNodes()
    {
        AddRoot(NodeIds.RootFolder, "Root");
        AddTypes();
        AddStandardFolder(NodeIds.RootFolder, NodeIds.ObjectsFolder, "Objects");
        AddStandardFolder(NodeIds.RootFolder, NodeIds.TypesFolder, "Types");
        AddStandardFolder(NodeIds.RootFolder, NodeIds.ViewsFolder, "Views");
        AddTypeFolder(NodeIds.ObjectTypesFolder, "ObjectTypes", NodeIds.BaseObjectType);
        AddTypeFolder(NodeIds.VariableTypesFolder, "VariableTypes", NodeIds.BaseVariableType);
        AddTypeFolder(NodeIds.DataTypesFolder, "DataTypes", NodeIds.BaseDataType);
        AddTypeFolder(NodeIds.ReferenceTypesFolder, "ReferenceTypes", NodeIds.References);
        foreach (uint folder in (uint[])[NodeIds.RootFolder])
        {
            Link(Standard(folder), NodeIds.HasTypeDefinition, Standard(NodeIds.FolderType));
        }

        AddServer();
    }

    private void AddTypes()
    {
        AddType(0, NodeIds.References, NodeClass.ReferenceType, "References", isAbstract: true);
        AddType(NodeIds.References, NodeIds.NonHierarchicalReferences, NodeClass.ReferenceType, "NonHierarchicalReferences", isAbstract: true);
        AddType(NodeIds.References, NodeIds.HierarchicalReferences, NodeClass.ReferenceType, "HierarchicalReferences", isAbstract: true);
        AddType(NodeIds.HierarchicalReferences, NodeIds.HasChild, NodeClass.ReferenceType, "HasChild", isAbstract: true);
        AddType(NodeIds.HierarchicalReferences, NodeIds.Organizes, NodeClass.ReferenceType, "Organizes");
        AddType(NodeIds.HierarchicalReferences, NodeIds.HasEventSource, NodeClass.ReferenceType, "HasEventSource");
        AddType(NodeIds.HasEventSource, NodeIds.HasNotifier, NodeClass.ReferenceType, "HasNotifier");
        AddType(NodeIds.HasChild, NodeIds.Aggregates, NodeClass.ReferenceType, "Aggregates", isAbstract: true);
        AddType(NodeIds.HasChild, NodeIds.HasSubtype, NodeClass.ReferenceType, "HasSubtype");
        AddType(NodeIds.Aggregates, NodeIds.HasProperty, NodeClass.ReferenceType, "HasProperty");
        AddType(NodeIds.Aggregates, NodeIds.HasComponent, NodeClass.ReferenceType, "HasComponent");
        AddType(NodeIds.HasComponent, NodeIds.HasOrderedComponent, NodeClass.ReferenceType, "HasOrderedComponent");
        AddType(NodeIds.NonHierarchicalReferences, NodeIds.HasModellingRule, NodeClass.ReferenceType, "HasModellingRule");
        AddType(NodeIds.NonHierarchicalReferences, NodeIds.HasEncoding, NodeClass.ReferenceType, "HasEncoding");
        AddType(NodeIds.NonHierarchicalReferences, NodeIds.HasDescription, NodeClass.ReferenceType, "HasDescription");
        AddType(NodeIds.NonHierarchicalReferences, NodeIds.HasTypeDefinition, NodeClass.ReferenceType, "HasTypeDefinition");
        AddType(NodeIds.NonHierarchicalReferences, NodeIds.GeneratesEvent, NodeClass.ReferenceType, "GeneratesEvent");

        AddType(0, NodeIds.BaseObjectType, NodeClass.ObjectType, "BaseObjectType");
        AddType(NodeIds.BaseObjectType, NodeIds.FolderType, NodeClass.ObjectType, "FolderType");
        AddType(NodeIds.BaseObjectType, NodeIds.ServerType, NodeClass.ObjectType, "ServerType");
        AddType(NodeIds.BaseObjectType, NodeIds.ServerCapabilitiesType, NodeClass.ObjectType, "ServerCapabilitiesType");
        AddType(NodeIds.FolderType, NodeIds.OperationLimitsType, NodeClass.ObjectType, "OperationLimitsType");

        AddType(0, NodeIds.BaseVariableType, NodeClass.VariableType, "BaseVariableType", isAbstract: true);
        AddType(NodeIds.BaseVariableType, NodeIds.BaseDataVariableType, NodeClass.VariableType, "BaseDataVariableType");
        AddType(NodeIds.BaseVariableType, NodeIds.PropertyType, NodeClass.VariableType, "PropertyType");

        AddType(0, NodeIds.BaseDataType, NodeClass.DataType, "BaseDataType", isAbstract: true);
        AddType(NodeIds.BaseDataType, NodeIds.Number, NodeClass.DataType, "Number", isAbstract: true);
        AddType(NodeIds.Number, NodeIds.Integer, NodeClass.DataType, "Integer", isAbstract: true);
        AddType(NodeIds.Number, NodeIds.UInteger, NodeClass.DataType, "UInteger", isAbstract: true);
        AddType(NodeIds.BaseDataType, NodeIds.Enumeration, NodeClass.DataType, "Enumeration", isAbstract: true);
        for (BuiltInType type = BuiltInType.Boolean; type <= BuiltInType.DiagnosticInfo; type++)
        {
            if (type == BuiltInType.Variant)
            {
                // BaseDataType itself.
                continue;
            }

            uint parent = type switch
            {
                BuiltInType.SByte or BuiltInType.Int16 or BuiltInType.Int32 or BuiltInType.Int64 => NodeIds.Integer,
                BuiltInType.Byte or BuiltInType.UInt16 or BuiltInType.UInt32 or BuiltInType.UInt64 => NodeIds.UInteger,
                BuiltInType.Float or BuiltInType.Double => NodeIds.Number,
                _ => NodeIds.BaseDataType,
            };
            string name = type == BuiltInType.ExtensionObject ? "Structure" : type.ToString();
            AddType(parent, (uint)type, NodeClass.DataType, name, isAbstract: type == BuiltInType.ExtensionObject);
        }

        AddType((uint)BuiltInType.DateTime, NodeIds.UtcTime, NodeClass.DataType, "UtcTime");
        AddType((uint)BuiltInType.Double, NodeIds.Duration, NodeClass.DataType, "Duration");
        AddType((uint)BuiltInType.String, NodeIds.LocaleId, NodeClass.DataType, "LocaleId");
        AddType(NodeIds.Enumeration, NodeIds.ServerStateType, NodeClass.DataType, "ServerState");
    }

    private void AddServer()
    {
        AddStandardObject(NodeIds.ObjectsFolder, NodeIds.Organizes, NodeIds.Server, "Server", NodeIds.ServerType);
        AddProperty(NodeIds.Server, NodeIds.ServerArray, "ServerArray", Variant.FromArray<string>([_namespaces[1]]));
        AddProperty(NodeIds.Server, NodeIds.NamespaceArray, "NamespaceArray", Variant.FromArray(_namespaces));
        AddProperty(NodeIds.Server, NodeIds.ServiceLevel, "ServiceLevel", byte.MaxValue);
        AddProperty(NodeIds.Server, NodeIds.Auditing, "Auditing", false);
        AddStandardVariable(NodeIds.Server, NodeIds.StartTime, "StartTime", NodeIds.UtcTime, () => new DataValue(_started));
        AddStandardVariable(NodeIds.Server, NodeIds.CurrentTime, "CurrentTime", NodeIds.UtcTime, static () => new DataValue(DateTime.UtcNow));
        AddStandardVariable(
            NodeIds.Server, NodeIds.State, "State", NodeIds.ServerStateType, static () => new DataValue((int)ServerState.Running));
    }

    private void UpdateNamespaces() =>
        ((VariableNode)Standard(NodeIds.NamespaceArray)).Value = Variant.FromArray(_namespaces);

    private Node Standard(uint number) => Find(new NodeId(0, number))!;

    private void AddRoot(uint number, string name) => Insert(new ObjectNode(new NodeId(0, number), name));

    private void AddStandardFolder(uint parent, uint number, string name) =>
        AddStandardObject(parent, NodeIds.Organizes, number, name, NodeIds.FolderType);

    private void AddTypeFolder(uint number, string name, uint baseType)
    {
        AddStandardFolder(NodeIds.TypesFolder, number, name);
        Link(Standard(number), NodeIds.Organizes, Standard(baseType));
    }

    private void AddStandardObject(uint parent, uint referenceType, uint number, string name, uint typeDefinition)
    {
        var node = new ObjectNode(new NodeId(0, number), name);
        Insert(node);
        Link(Standard(parent), referenceType, node);
        Link(node, NodeIds.HasTypeDefinition, Standard(typeDefinition));
    }

    private void AddType(uint parent, uint number, NodeClass nodeClass, string name, bool isAbstract = false)
    {
        Func<AttributeId, Variant>? more = nodeClass switch
        {
            NodeClass.ReferenceType => static attribute => attribute == AttributeId.Symmetric ? false : Variant.Null,
            NodeClass.VariableType => static attribute => attribute switch
            {
                AttributeId.DataType => new NodeId(0, NodeIds.BaseDataType),
                AttributeId.ValueRank => -2,
                _ => Variant.Null,
            },
            _ => null,
        };
        var node = new TypeNode(new NodeId(0, number), nodeClass, name, isAbstract, more);
        Insert(node);
        if (parent != 0)
        {
            Link(Standard(parent), NodeIds.HasSubtype, node);
        }
    }

    private void AddProperty(uint parent, uint number, string name, Variant value)
    {
        var node = new VariableNode(
            new NodeId(0, number), name, value.Type, new NodeId(0, (uint)value.Type), value.IsArray ? 1 : -1)
        {
            Value = value,
        };
        Insert(node);
        Link(Standard(parent), NodeIds.HasProperty, node);
        Link(node, NodeIds.HasTypeDefinition, Standard(NodeIds.PropertyType));
    }

    private void AddStandardVariable(uint parent, uint number, string name, uint dataType, Func<DataValue> read)
    {
        var node = new VariableNode(new NodeId(0, number), name, read().Value.Type, new NodeId(0, dataType), valueRank: -1)
        {
            OnRead = read,
        };
        Insert(node);
        Link(Standard(parent), NodeIds.HasComponent, node);
        Link(node, NodeIds.HasTypeDefinition, Standard(NodeIds.BaseDataVariableType));
    }
}
