using System.Globalization;
using System.Text;

namespace FastPort.OpcUa;

/// <summary>The kind of a node's identifier (OPC 10000-3, 8.2.3).</summary>
public enum NodeIdType : byte
{
    /// <summary>A number.</summary>
    Numeric = 0,

    /// <summary>A string.</summary>
    String = 1,

    /// <summary>A GUID.</summary>
    Guid = 2,

    /// <summary>Bytes.</summary>
    Opaque = 3,
}

/// <summary>Identifies a node in a server's address space (OPC 10000-3, 8.2). Immutable; numeric ids allocate nothing.</summary>
public readonly struct NodeId : IEquatable<NodeId>
{
    // A string, a boxed Guid or a byte array; null for a number.
    private readonly object? _identifier;
    private readonly uint _number;

    /// <summary>Creates a numeric id.</summary>
    /// <param name="namespaceIndex">Index in the server's namespace array.</param>
    /// <param name="number">The number.</param>
    public NodeId(ushort namespaceIndex, uint number)
    {
        NamespaceIndex = namespaceIndex;
        _number = number;
    }

    /// <summary>Creates a string id.</summary>
    /// <param name="namespaceIndex">Index in the server's namespace array.</param>
    /// <param name="text">The text.</param>
    public NodeId(ushort namespaceIndex, string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        NamespaceIndex = namespaceIndex;
        Type = NodeIdType.String;
        _identifier = text;
    }

    /// <summary>Creates a GUID id.</summary>
    /// <param name="namespaceIndex">Index in the server's namespace array.</param>
    /// <param name="guid">The GUID.</param>
    public NodeId(ushort namespaceIndex, Guid guid)
    {
        NamespaceIndex = namespaceIndex;
        Type = NodeIdType.Guid;
        _identifier = guid;
    }

    /// <summary>Creates an opaque id of bytes.</summary>
    /// <param name="namespaceIndex">Index in the server's namespace array.</param>
    /// <param name="bytes">The bytes, at most 4,096; not copied, and not to be changed later.</param>
    public NodeId(ushort namespaceIndex, byte[] bytes)
    {
        ArgumentNullException.ThrowIfNull(bytes);
        NamespaceIndex = namespaceIndex;
        Type = NodeIdType.Opaque;
        _identifier = bytes;
    }

    private NodeId(ushort namespaceIndex, NodeIdType type, uint number, object? identifier)
    {
        NamespaceIndex = namespaceIndex;
        Type = type;
        _number = number;
        _identifier = identifier;
    }

    /// <summary>The null id: number 0 of namespace 0.</summary>
    public static NodeId Null => default;

    /// <summary>Index in the server's namespace array.</summary>
    public ushort NamespaceIndex { get; }

    /// <summary>The kind of the identifier.</summary>
    public NodeIdType Type { get; }

    /// <summary>The number; 0 for other kinds.</summary>
    public uint Number => _number;

    /// <summary>The text; null for other kinds.</summary>
    public string? Text => _identifier as string;

    /// <summary>The GUID; empty for other kinds.</summary>
    public Guid Guid => _identifier is Guid guid ? guid : Guid.Empty;

    /// <summary>The bytes; null for other kinds.</summary>
    public byte[]? Bytes => _identifier as byte[];

    /// <summary>Whether this is <see cref="Null"/>, or an empty identifier of another kind in namespace 0.</summary>
    public bool IsNull => NamespaceIndex == 0 && Type switch
    {
        NodeIdType.Numeric => _number == 0,
        NodeIdType.String => Text!.Length == 0,
        NodeIdType.Guid => Guid == Guid.Empty,
        _ => Bytes!.Length == 0,
    };

    /// <summary>The parts as one reference and 64 bits, for <see cref="Variant"/>.</summary>
    internal (object? Identifier, ulong Bits) Parts => (_identifier, _number | ((ulong)NamespaceIndex << 32) | ((ulong)Type << 48));

    /// <summary>The same identifier in another namespace.</summary>
    internal NodeId InNamespace(ushort index) => new(index, Type, _number, _identifier);

    internal static NodeId FromParts(object? identifier, ulong bits) =>
        new((ushort)(bits >> 32), (NodeIdType)(byte)(bits >> 48), (uint)bits, identifier);

    /// <summary>Reads the text form <c>ns=2;i=1000</c> (also <c>s=</c>, <c>g=</c>, <c>b=</c>; OPC 10000-6, 5.3.1.10).</summary>
    /// <param name="text">The text.</param>
    /// <exception cref="FormatException">The text is not a node id; the message says what is wrong.</exception>
    public static NodeId Parse(string text) =>
        TryParse(text, out NodeId id)
            ? id
            : throw new FormatException($"'{text}' is not a node id. Expected for example ns=2;i=1000 or ns=2;s=Boiler.Temperature.");

    /// <summary>Reads the text form without throwing.</summary>
    /// <param name="text">The text.</param>
    /// <param name="id">The id, on success.</param>
    public static bool TryParse(string? text, out NodeId id)
    {
        id = default;
        ReadOnlySpan<char> rest = text;
        ushort index = 0;
        if (rest.StartsWith("ns=", StringComparison.Ordinal))
        {
            int end = rest.IndexOf(';');
            if (end < 0 || !ushort.TryParse(rest[3..end], NumberStyles.None, CultureInfo.InvariantCulture, out index))
            {
                return false;
            }

            rest = rest[(end + 1)..];
        }

        if (rest.Length < 2 || rest[1] != '=')
        {
            return false;
        }

        ReadOnlySpan<char> value = rest[2..];
        switch (rest[0])
        {
            case 'i' when uint.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out uint number):
                id = new NodeId(index, number);
                return true;
            case 's':
                id = new NodeId(index, value.ToString());
                return true;
            case 'g' when Guid.TryParseExact(value, "D", out Guid guid):
                id = new NodeId(index, guid);
                return true;
            case 'b':
                byte[] bytes = new byte[value.Length];
                if (!Convert.TryFromBase64Chars(value, bytes, out int count))
                {
                    return false;
                }

                id = new NodeId(index, bytes[..count]);
                return true;
            default:
                return false;
        }
    }

    /// <summary>Whether both ids name the same node.</summary>
    public bool Equals(NodeId other)
    {
        if (_number != other._number || NamespaceIndex != other.NamespaceIndex || Type != other.Type)
        {
            return false;
        }

        return Type switch
        {
            NodeIdType.Numeric => true,
            NodeIdType.Opaque => Bytes.AsSpan().SequenceEqual(other.Bytes),
            _ => _identifier!.Equals(other._identifier),
        };
    }

    /// <summary>Whether the object is an id of the same node.</summary>
    public override bool Equals(object? obj) => obj is NodeId other && Equals(other);

    /// <summary>A hash code of namespace index and identifier.</summary>
    public override int GetHashCode()
    {
        if (Type == NodeIdType.Opaque)
        {
            var hash = new HashCode();
            hash.Add(NamespaceIndex);
            hash.AddBytes(Bytes);
            return hash.ToHashCode();
        }

        return HashCode.Combine(NamespaceIndex, _number, _identifier);
    }

    /// <summary>The text form, which <see cref="Parse"/> reads.</summary>
    public override string ToString()
    {
        var text = new StringBuilder();
        if (NamespaceIndex != 0)
        {
            text.Append(CultureInfo.InvariantCulture, $"ns={NamespaceIndex};");
        }

        return Type switch
        {
            NodeIdType.Numeric => text.Append(CultureInfo.InvariantCulture, $"i={_number}").ToString(),
            NodeIdType.String => text.Append("s=").Append(Text).ToString(),
            NodeIdType.Guid => text.Append(CultureInfo.InvariantCulture, $"g={Guid:D}").ToString(),
            _ => text.Append("b=").Append(Convert.ToBase64String(Bytes!)).ToString(),
        };
    }

    /// <summary>Whether both ids name the same node.</summary>
    public static bool operator ==(NodeId left, NodeId right) => left.Equals(right);

    /// <summary>Whether the ids name different nodes.</summary>
    public static bool operator !=(NodeId left, NodeId right) => !left.Equals(right);
}

/// <summary>A node id that may lie in another server or name its namespace by URI (OPC 10000-6, 5.2.2.10).</summary>
/// <param name="NodeId">The id. Its namespace index is ignored if there is a URI.</param>
/// <param name="NamespaceUri">The namespace's URI; null for the id's index. Defaults to null.</param>
/// <param name="ServerIndex">Index in the server array; 0 for this server. Defaults to 0.</param>
public readonly record struct ExpandedNodeId(NodeId NodeId, string? NamespaceUri = null, uint ServerIndex = 0)
{
    /// <summary>An id in this server.</summary>
    /// <param name="id">The id.</param>
    public static implicit operator ExpandedNodeId(NodeId id) => new(id);

    /// <summary>The text form, with <c>svr=</c> and <c>nsu=</c> before the id where they apply.</summary>
    public override string ToString()
    {
        string server = ServerIndex == 0 ? string.Empty : string.Create(CultureInfo.InvariantCulture, $"svr={ServerIndex};");
        return NamespaceUri is null ? server + NodeId : $"{server}nsu={NamespaceUri};{NodeId.InNamespace(0)}";
    }
}
