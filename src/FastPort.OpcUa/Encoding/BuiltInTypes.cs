namespace FastPort.OpcUa.Encoding;

/// <summary>From .NET types to built-in types.</summary>
internal static class BuiltInTypes
{
    /// <summary>The built-in type of a scalar value.</summary>
    /// <exception cref="NotSupportedException">There is none.</exception>
    public static BuiltInType OfScalar<T>() =>
        OfElement<T>() is var type and not BuiltInType.Variant
            ? type
            : throw new NotSupportedException("A variant cannot hold a scalar variant (OPC 10000-6, 5.1.9), only an array of them.");

    /// <summary>The built-in type of an array's elements. Each comparison is a constant where the JIT compiles for a value type.</summary>
    /// <exception cref="NotSupportedException">There is none.</exception>
    public static BuiltInType OfElement<T>()
    {
        if (typeof(T) == typeof(int))
        {
            return BuiltInType.Int32;
        }

        if (typeof(T) == typeof(double))
        {
            return BuiltInType.Double;
        }

        if (typeof(T) == typeof(bool))
        {
            return BuiltInType.Boolean;
        }

        if (typeof(T) == typeof(float))
        {
            return BuiltInType.Float;
        }

        if (typeof(T) == typeof(uint))
        {
            return BuiltInType.UInt32;
        }

        if (typeof(T) == typeof(long))
        {
            return BuiltInType.Int64;
        }

        if (typeof(T) == typeof(ulong))
        {
            return BuiltInType.UInt64;
        }

        if (typeof(T) == typeof(short))
        {
            return BuiltInType.Int16;
        }

        if (typeof(T) == typeof(ushort))
        {
            return BuiltInType.UInt16;
        }

        if (typeof(T) == typeof(byte))
        {
            return BuiltInType.Byte;
        }

        if (typeof(T) == typeof(sbyte))
        {
            return BuiltInType.SByte;
        }

        return ByType.TryGetValue(typeof(T), out BuiltInType type)
            ? type
            : throw new NotSupportedException($"{typeof(T)} is not the .NET type of an OPC UA built-in type.");
    }

    /// <summary>Whether the encoding is the memory of a little-endian processor.</summary>
    public static bool IsBlittable<T>() =>
        typeof(T) == typeof(byte) || typeof(T) == typeof(sbyte) || typeof(T) == typeof(short) || typeof(T) == typeof(ushort)
        || typeof(T) == typeof(int) || typeof(T) == typeof(uint) || typeof(T) == typeof(long) || typeof(T) == typeof(ulong)
        || typeof(T) == typeof(float) || typeof(T) == typeof(double) || typeof(T) == typeof(Guid) || typeof(T) == typeof(StatusCode);

    private static readonly Dictionary<Type, BuiltInType> ByType = new()
    {
        [typeof(string)] = BuiltInType.String,
        [typeof(DateTime)] = BuiltInType.DateTime,
        [typeof(Guid)] = BuiltInType.Guid,
        [typeof(ByteString)] = BuiltInType.ByteString,
        [typeof(XmlElement)] = BuiltInType.XmlElement,
        [typeof(NodeId)] = BuiltInType.NodeId,
        [typeof(ExpandedNodeId)] = BuiltInType.ExpandedNodeId,
        [typeof(StatusCode)] = BuiltInType.StatusCode,
        [typeof(QualifiedName)] = BuiltInType.QualifiedName,
        [typeof(LocalizedText)] = BuiltInType.LocalizedText,
        [typeof(ExtensionObject)] = BuiltInType.ExtensionObject,
        [typeof(DataValue)] = BuiltInType.DataValue,
        [typeof(Variant)] = BuiltInType.Variant,
        [typeof(DiagnosticInfo)] = BuiltInType.DiagnosticInfo,
    };
}
