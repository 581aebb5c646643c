using System.Collections.Concurrent;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The nodes of a server. Add nodes before or while the server runs. Thread-safe; reading takes no lock.
/// </summary>
public sealed partial class AddressSpace
{
    /// <summary>The object that applications add their nodes to (OPC 10000-5, 8.2.4).</summary>
    public static readonly NodeId ObjectsFolder = new(0, NodeIds.ObjectsFolder);

    // The answer to a read of ArrayDimensions contains this many numbers.
    private const int MaxValueRank = 16;

    // Guards changes.
    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<NodeId, Node> _others = new();

    // Numeric ids by namespace, in pages: a bulk read of neighbours is a run over memory.
    private volatile NumericNodes[] _numeric = [];
    private volatile string[] _namespaces;

    internal AddressSpace(OpcUaServerOptions options, TimeProvider time)
    {
        _namespaces = ["http://opcfoundation.org/UA/", options.ApplicationUri];
        AddStandardNodes(options, time);
    }

    /// <summary>The namespace URIs; their indexes are those of node ids.</summary>
    public IReadOnlyList<string> Namespaces => _namespaces;

    /// <summary>Adds a namespace if it does not exist.</summary>
    /// <param name="uri">The namespace's URI.</param>
    /// <returns>The namespace's index.</returns>
    public ushort AddNamespace(string uri)
    {
        ArgumentException.ThrowIfNullOrEmpty(uri);
        lock (_gate)
        {
            int index = Array.IndexOf(_namespaces, uri);
            if (index < 0)
            {
                index = _namespaces.Length;
                _namespaces = [.. _namespaces, uri];
                UpdateNamespaces();
            }

            return (ushort)index;
        }
    }

    /// <summary>Sets the server's URI, which is also its own namespace, of index 1 (OPC 10000-5, 6.3.1).</summary>
    /// <param name="uri">The URI, as in the server's certificate.</param>
    internal void SetApplicationUri(string uri)
    {
        lock (_gate)
        {
            _namespaces = [_namespaces[0], uri, .. _namespaces.AsSpan(2)];
            UpdateNamespaces();
            ((VariableNode)Standard(NodeIds.ServerArray)).Value = Variant.FromArray<string>([uri]);
        }
    }

    /// <summary>Finds a node.</summary>
    /// <param name="id">The node's id.</param>
    /// <returns>The node; null if there is none.</returns>
    public Node? Find(in NodeId id)
    {
        if (id.Type == NodeIdType.Numeric)
        {
            NumericNodes[] numeric = _numeric;
            return id.NamespaceIndex < numeric.Length ? numeric[id.NamespaceIndex].Find(id.Number) : null;
        }

        return _others.GetValueOrDefault(id);
    }

    /// <summary>Adds a folder.</summary>
    /// <param name="parent">The parent folder or object.</param>
    /// <param name="id">The folder's id.</param>
    /// <param name="browseName">The folder's name.</param>
    /// <exception cref="ArgumentException">The parent does not exist, or the id is taken.</exception>
    public ObjectNode AddFolder(NodeId parent, NodeId id, QualifiedName browseName) =>
        Add(new ObjectNode(id, browseName), parent, NodeIds.Organizes, NodeIds.FolderType);

    /// <summary>Adds an object.</summary>
    /// <param name="parent">The parent folder.</param>
    /// <param name="id">The object's id.</param>
    /// <param name="browseName">The object's name.</param>
    /// <exception cref="ArgumentException">The parent does not exist, or the id is taken.</exception>
    public ObjectNode AddObject(NodeId parent, NodeId id, QualifiedName browseName) =>
        Add(new ObjectNode(id, browseName), parent, NodeIds.Organizes, NodeIds.BaseObjectType);

    /// <summary>Adds a variable with a scalar value.</summary>
    /// <typeparam name="T">The .NET type of a built-in type.</typeparam>
    /// <param name="parent">The parent object or folder.</param>
    /// <param name="id">The variable's id.</param>
    /// <param name="browseName">The variable's name.</param>
    /// <param name="value">The first value.</param>
    /// <param name="writable">Whether clients may write it. Defaults to false.</param>
    /// <exception cref="ArgumentException">The parent does not exist, or the id is taken.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not the type of a built-in type.</exception>
    public VariableNode AddVariable<T>(NodeId parent, NodeId id, QualifiedName browseName, T value, bool writable = false)
    {
        BuiltInType type = BuiltInTypes.OfScalar<T>();
        var node = new VariableNode(id, browseName, type, new NodeId(0, (uint)type), valueRank: -1)
        {
            IsWritable = writable,
            Value = Variant.From(value),
        };
        return Add(node, parent, NodeIds.HasComponent, NodeIds.BaseDataVariableType);
    }

    /// <summary>Adds a variable with a scalar value from a callback. Clients cannot write it.</summary>
    /// <typeparam name="T">The .NET type of a built-in type.</typeparam>
    /// <param name="parent">The parent object or folder.</param>
    /// <param name="id">The variable's id.</param>
    /// <param name="browseName">The variable's name.</param>
    /// <param name="onRead">See <see cref="VariableNode.OnRead"/>.</param>
    /// <exception cref="ArgumentException">The parent does not exist, or the id is taken.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not the type of a built-in type.</exception>
    public VariableNode AddVariable<T>(NodeId parent, NodeId id, QualifiedName browseName, Func<DataValue> onRead)
    {
        ArgumentNullException.ThrowIfNull(onRead);
        BuiltInType type = BuiltInTypes.OfScalar<T>();
        var node = new VariableNode(id, browseName, type, new NodeId(0, (uint)type), valueRank: -1) { OnRead = onRead };
        return Add(node, parent, NodeIds.HasComponent, NodeIds.BaseDataVariableType);
    }

    /// <summary>
    /// Adds a variable whose type is known only at run time. It has no value, with the status BadWaitingForInitialData, until its owner
    /// sets one.
    /// </summary>
    /// <param name="parent">The parent object or folder.</param>
    /// <param name="id">The variable's id.</param>
    /// <param name="browseName">The variable's name.</param>
    /// <param name="type">The type of the value, or of an array's elements; Null or Variant for any.</param>
    /// <param name="valueRank">-1 for a scalar, -2 for any value, 1 to 16 for an array with this number of dimensions.</param>
    /// <param name="onWrite">See <see cref="VariableNode.OnWrite"/>. Defaults to null: clients cannot write it.</param>
    /// <exception cref="ArgumentException">The parent does not exist, or the id is taken.</exception>
    /// <exception cref="ArgumentOutOfRangeException">There is no such type or rank.</exception>
    public VariableNode AddVariableOfType(
        NodeId parent, NodeId id, QualifiedName browseName, BuiltInType type, int valueRank, VariableWriteHandler? onWrite = null)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((int)type, (int)BuiltInType.DiagnosticInfo, nameof(type));
        ArgumentOutOfRangeException.ThrowIfLessThan(valueRank, -2);
        ArgumentOutOfRangeException.ThrowIfZero(valueRank);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(valueRank, MaxValueRank);
        bool isAny = type is BuiltInType.Null or BuiltInType.Variant;
        var node = new VariableNode(
            id, browseName, isAny ? BuiltInType.Null : type, new NodeId(0, isAny ? (uint)BuiltInType.Variant : (uint)type), valueRank)
        {
            IsWritable = onWrite is not null,
            OnWrite = onWrite,
            Value = new DataValue(default, StatusCodes.BadWaitingForInitialData),
        };
        return Add(node, parent, NodeIds.HasComponent, NodeIds.BaseDataVariableType);
    }

    /// <summary>Adds a variable whose value is an array.</summary>
    /// <inheritdoc cref="AddVariable{T}(NodeId, NodeId, QualifiedName, T, bool)"/>
    public VariableNode AddArrayVariable<T>(NodeId parent, NodeId id, QualifiedName browseName, T[] value, bool writable = false)
    {
        BuiltInType type = BuiltInTypes.OfElement<T>();
        var node = new VariableNode(id, browseName, type, new NodeId(0, (uint)type), valueRank: 1)
        {
            IsWritable = writable,
            Value = Variant.FromArray(value),
        };
        return Add(node, parent, NodeIds.HasComponent, NodeIds.BaseDataVariableType);
    }

    /// <summary>Whether a reference type is another one, or a subtype of it.</summary>
    internal bool IsOfType(NodeId type, NodeId wanted, bool includeSubtypes)
    {
        return type == wanted
            || (includeSubtypes && Find(type)?.Target(NodeIds.HasSubtype, isForward: false) is { } parent
                && IsOfType(parent.Id, wanted, includeSubtypes));
    }

    private T Add<T>(T node, NodeId parent, uint referenceType, uint typeDefinition)
        where T : Node
    {
        lock (_gate)
        {
            Node parentNode = Find(parent)
                ?? throw new ArgumentException(
                    $"The parent {parent} of the new node {node.Id} is not in the address space.", nameof(parent));
            Insert(node);
            Link(parentNode, referenceType, node);
            if (typeDefinition != 0)
            {
                Link(node, NodeIds.HasTypeDefinition, Find(new NodeId(0, typeDefinition))!);
            }

            return node;
        }
    }

    private void Insert(Node node)
    {
        if (Find(node.Id) is not null)
        {
            throw new ArgumentException($"The node id {node.Id} is taken.", nameof(node));
        }

        if (node.Id.Type != NodeIdType.Numeric)
        {
            _others[node.Id] = node;
            return;
        }

        NumericNodes[] numeric = _numeric;
        if (node.Id.NamespaceIndex >= numeric.Length)
        {
            int old = numeric.Length;
            Array.Resize(ref numeric, node.Id.NamespaceIndex + 1);
            for (int i = old; i < numeric.Length; i++)
            {
                numeric[i] = new NumericNodes();
            }

            _numeric = numeric;
        }

        numeric[node.Id.NamespaceIndex].Add(node);
    }

    private static void Link(Node source, uint referenceType, Node target)
    {
        var type = new NodeId(0, referenceType);
        source.Add(new Reference(type, IsForward: true, target));

        // A type does not list its instances.
        if (referenceType != NodeIds.HasTypeDefinition)
        {
            target.Add(new Reference(type, IsForward: false, source));
        }
    }
}
