namespace FastPort.OpcUa.Server;

/// <content>The nodes of namespace 0 that clients look for (OPC 10000-5): folders and types.</content>
public sealed partial class AddressSpace
{
    private static readonly (uint Parent, uint Id, string Name)[] StandardFolders =
    [
        (NodeIds.RootFolder, NodeIds.ObjectsFolder, "Objects"),
        (NodeIds.RootFolder, NodeIds.TypesFolder, "Types"),
        (NodeIds.RootFolder, NodeIds.ViewsFolder, "Views"),
        (NodeIds.TypesFolder, NodeIds.ObjectTypesFolder, "ObjectTypes"),
        (NodeIds.TypesFolder, NodeIds.VariableTypesFolder, "VariableTypes"),
        (NodeIds.TypesFolder, NodeIds.DataTypesFolder, "DataTypes"),
        (NodeIds.TypesFolder, NodeIds.ReferenceTypesFolder, "ReferenceTypes"),
        (NodeIds.TypesFolder, NodeIds.EventTypesFolder, "EventTypes"),
    ];

    // The roots of the type trees, and the first of the event types, which is an object type, too.
    private static readonly (uint Folder, uint Type)[] OrganizedTypes =
    [
        (NodeIds.ObjectTypesFolder, NodeIds.BaseObjectType),
        (NodeIds.VariableTypesFolder, NodeIds.BaseVariableType),
        (NodeIds.DataTypesFolder, NodeIds.BaseDataType),
        (NodeIds.ReferenceTypesFolder, NodeIds.References),
        (NodeIds.EventTypesFolder, NodeIds.BaseEventType),
    ];

    private void AddStandardNodes(OpcUaServerOptions options, TimeProvider time)
    {
        AddTypes();
        Insert(new ObjectNode(new NodeId(0, NodeIds.RootFolder), "Root"));
        Link(Standard(NodeIds.RootFolder), NodeIds.HasTypeDefinition, Standard(NodeIds.FolderType));
        foreach ((uint parent, uint id, string name) in StandardFolders)
        {
            AddStandard(new ObjectNode(new NodeId(0, id), name), parent, NodeIds.Organizes, NodeIds.FolderType);
        }

        foreach ((uint folder, uint type) in OrganizedTypes)
        {
            Link(Standard(folder), NodeIds.Organizes, Standard(type));
        }

        AddDataTypeDetails();
        AddServer(options, time);
        AddDeclarations();
    }

    private void AddTypes()
    {
        foreach ((uint parent, uint id, string name, bool isAbstract, string? inverseName) in StandardTypes.References)
        {
            AddType(parent, new TypeNode(new NodeId(0, id), NodeClass.ReferenceType, name, isAbstract) { InverseName = inverseName });
        }

        foreach ((uint parent, uint id, string name, bool isAbstract) in StandardTypes.Objects)
        {
            AddType(parent, new TypeNode(new NodeId(0, id), NodeClass.ObjectType, name, isAbstract));
        }

        foreach ((uint parent, uint id, string name, bool isAbstract, uint dataType, int valueRank) in StandardTypes.Variables)
        {
            AddType(
                parent,
                new TypeNode(new NodeId(0, id), NodeClass.VariableType, name, isAbstract)
                {
                    DataType = new NodeId(0, dataType),
                    ValueRank = valueRank,
                });
        }

        foreach ((uint parent, uint id, string name, bool isAbstract) in StandardTypes.DataTypes)
        {
            AddType(parent, new TypeNode(new NodeId(0, id), NodeClass.DataType, name, isAbstract)
            {
                Definition = DataTypeDefinitions.Find(id),
            });
        }
    }

    private void AddDataTypeDetails()
    {
        foreach ((uint dataType, uint id) in StandardTypes.Encodings)
        {
            AddStandard(
                new ObjectNode(new NodeId(0, id), "Default Binary"), dataType, NodeIds.HasEncoding, NodeIds.DataTypeEncodingType);
        }

        foreach ((uint dataType, uint id, string[] names) in StandardTypes.EnumStrings)
        {
            Variant texts = Variant.FromArray(Array.ConvertAll(names, static name => (LocalizedText)name));
            AddProperty(dataType, id, "EnumStrings", NodeIds.LocalizedText, texts);
        }

        // Deprecated, and empty; some clients report an error if they are missing.
        AddStandard(
            new ObjectNode(new NodeId(0, NodeIds.XmlSchemaTypeSystem), "XML Schema"),
            NodeIds.DataTypesFolder,
            NodeIds.Organizes,
            NodeIds.DataTypeSystemType);
        AddStandard(
            new ObjectNode(new NodeId(0, NodeIds.OpcBinaryTypeSystem), "OPC Binary"),
            NodeIds.DataTypesFolder,
            NodeIds.Organizes,
            NodeIds.DataTypeSystemType);
    }

    private Node Standard(uint number) => Find(new NodeId(0, number))!;

    private void AddType(uint parent, TypeNode node)
    {
        Insert(node);
        if (parent != 0)
        {
            Link(Standard(parent), NodeIds.HasSubtype, node);
        }
    }

    private void AddStandard(Node node, uint parent, uint referenceType, uint typeDefinition)
    {
        Insert(node);
        Link(Standard(parent), referenceType, node);

        // Methods have no type.
        if (typeDefinition != 0)
        {
            Link(node, NodeIds.HasTypeDefinition, Standard(typeDefinition));
        }
    }

    private void AddProperty(uint parent, uint id, string name, uint dataType, Variant value) => AddStandard(
        new VariableNode(new NodeId(0, id), name, value.Type, new NodeId(0, dataType), value.IsArray ? 1 : -1) { Value = value },
        parent,
        NodeIds.HasProperty,
        NodeIds.PropertyType);
}
