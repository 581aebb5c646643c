using System.Runtime.CompilerServices;

namespace FastPort.OpcUa.Server;

/// <summary>
/// A node of a server's address space (OPC 10000-3, 5.2). Created by <see cref="AddressSpace"/>. Its attributes are read by the server at
/// any time, from any thread.
/// </summary>
public abstract class Node
{
    // Written under the address space's lock: a reference first, then the number of them. Read without it, the number first: the array
    // then has at least as many.
    private volatile Reference[] _references = [];
    private volatile int _referenceCount;

    // Null for the browse name, and for none. One object each, so that a reader never sees the language of one text with the words of
    // another.
    private volatile StrongBox<LocalizedText>? _displayName;
    private volatile StrongBox<LocalizedText>? _description;

    private protected Node(NodeId id, NodeClass nodeClass, QualifiedName browseName)
    {
        Id = id;
        NodeClass = nodeClass;
        BrowseName = browseName;
    }

    /// <summary>The node's id.</summary>
    public NodeId Id { get; }

    /// <summary>The node's class.</summary>
    public NodeClass NodeClass { get; }

    /// <summary>The name in paths.</summary>
    public QualifiedName BrowseName { get; }

    /// <summary>
    /// The display name, in one language. The node's owner may change it at any time, from any thread; monitored items do not report the
    /// change. Defaults to the browse name.
    /// </summary>
    public LocalizedText DisplayName
    {
        get => _displayName is { } own ? own.Value : BrowseName.Name;
        set => _displayName = new StrongBox<LocalizedText>(value);
    }

    /// <summary>
    /// The description, in one language. The node's owner may change it at any time, from any thread; monitored items do not report the
    /// change. Defaults to none.
    /// </summary>
    public LocalizedText Description
    {
        get => _description is { } own ? own.Value : default;
        set => _description = new StrongBox<LocalizedText>(value);
    }

    /// <summary>All references of the node, in both directions.</summary>
    internal ReadOnlySpan<Reference> References
    {
        get
        {
            int count = _referenceCount;
            return _references.AsSpan(0, count);
        }
    }

    /// <summary>The type of an object or variable; the null id for others.</summary>
    internal NodeId TypeDefinition => Target(NodeIds.HasTypeDefinition)?.Id ?? NodeId.Null;

    /// <summary>The other end of the first reference of a type, a subtype not counted; null if there is none.</summary>
    internal Node? Target(uint referenceType, bool isForward = true)
    {
        foreach (Reference reference in References)
        {
            if (reference.IsForward == isForward && reference.TypeId == new NodeId(0, referenceType))
            {
                return reference.Target;
            }
        }

        return null;
    }

    /// <summary>Whether a node is a component of this one.</summary>
    internal bool HasComponent(Node node)
    {
        foreach (Reference reference in References)
        {
            if (reference.Target == node && reference.IsForward && reference.TypeId == new NodeId(0, NodeIds.HasComponent))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Adds a reference; under the address space's lock.</summary>
    internal void Add(Reference reference)
    {
        Reference[] references = _references;
        if (_referenceCount == references.Length)
        {
            // Most nodes have two: to their parent, and to their type.
            Array.Resize(ref references, Math.Max(2, 2 * references.Length));
        }

        references[_referenceCount] = reference;
        _references = references;
        _referenceCount++;
    }

    /// <summary>Gives an object or variable another type; under the address space's lock.</summary>
    internal void SetType(Node type)
    {
        // In a copy: others read the references concurrently.
        Reference[] references = References.ToArray();
        int place = Array.FindIndex(references, static one => one.IsForward && one.TypeId == new NodeId(0, NodeIds.HasTypeDefinition));
        references[place] = references[place] with { Target = type };
        _references = references;
    }

    /// <summary>Reads an attribute other than Value. False if the node has no such attribute.</summary>
    internal virtual bool TryReadAttribute(AttributeId attribute, out Variant value)
    {
        value = attribute switch
        {
            AttributeId.NodeId => Id,
            AttributeId.NodeClass => (int)NodeClass,
            AttributeId.BrowseName => BrowseName,
            AttributeId.DisplayName => DisplayName,
            AttributeId.Description => Description,
            AttributeId.WriteMask or AttributeId.UserWriteMask => 0u,
            _ => default,
        };
        return !value.IsNull;
    }
}

/// <summary>A reference from one node to another.</summary>
/// <param name="TypeId">The type of the reference.</param>
/// <param name="IsForward">Whether the reference begins at the node that holds it.</param>
/// <param name="Target">The node at the other end.</param>
internal readonly record struct Reference(NodeId TypeId, bool IsForward, Node Target);

/// <summary>An object, a folder among them (OPC 10000-3, 5.5).</summary>
public sealed class ObjectNode : Node
{
    internal ObjectNode(NodeId id, QualifiedName browseName)
        : base(id, NodeClass.Object, browseName)
    {
    }

    internal override bool TryReadAttribute(AttributeId attribute, out Variant value)
    {
        if (attribute == AttributeId.EventNotifier)
        {
            value = (byte)0;
            return true;
        }

        return base.TryReadAttribute(attribute, out value);
    }
}

/// <summary>A type of namespace 0 (OPC 10000-3, 5.3, 5.5.2, 5.6.5 and 5.8.3).</summary>
internal sealed class TypeNode : Node
{
    public TypeNode(NodeId id, NodeClass nodeClass, QualifiedName browseName, bool isAbstract)
        : base(id, nodeClass, browseName) => IsAbstract = isAbstract;

    public bool IsAbstract { get; }

    /// <summary>The name of a reference type in the other direction; null for a symmetric one.</summary>
    public string? InverseName { get; init; }

    /// <summary>Data type of a variable type's values.</summary>
    public NodeId DataType { get; init; }

    /// <summary>Rank of a variable type's values: -1 for a scalar, -2 for any.</summary>
    public int ValueRank { get; init; }

    /// <summary>What the values of a data type consist of; null for one without a definition.</summary>
    public ExtensionObject? Definition { get; init; }

    internal override bool TryReadAttribute(AttributeId attribute, out Variant value)
    {
        value = attribute switch
        {
            AttributeId.IsAbstract => IsAbstract,
            AttributeId.Symmetric when NodeClass == NodeClass.ReferenceType => InverseName is null,
            AttributeId.InverseName when InverseName is not null => Variant.From<LocalizedText>(InverseName),
            AttributeId.DataType when NodeClass == NodeClass.VariableType => DataType,
            AttributeId.ValueRank when NodeClass == NodeClass.VariableType => ValueRank,
            AttributeId.DataTypeDefinition when Definition is not null => Variant.From(Definition),
            _ => default(Variant),
        };
        return !value.IsNull || base.TryReadAttribute(attribute, out value);
    }
}
