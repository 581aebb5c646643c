using System.Globalization;
using System.Runtime.CompilerServices;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa;

/// <summary>
/// A value of any built-in type, or an array of one (OPC 10000-6, 5.2.2.16). Immutable. Numbers, strings, byte strings, node ids, status
/// codes and times are stored without a further object; GUIDs, localized texts, expanded node ids and data values are boxed.
/// </summary>
public readonly partial struct Variant : IEquatable<Variant>
{
    // Text, array, identifier of a node id, or a boxed value; null for numbers.
    private readonly object? _object;

    // The bits of a number, or the part of the value outside its reference.
    private readonly ulong _bits;

    private Variant(BuiltInType type, bool isArray, object? reference, ulong bits)
    {
        Type = type;
        IsArray = isArray;
        _object = reference;
        _bits = bits;
    }

    /// <summary>No value.</summary>
    public static Variant Null => default;

    /// <summary>The type of the value, or of an array's elements.</summary>
    public BuiltInType Type { get; }

    /// <summary>Whether the value is an array, of one or more dimensions.</summary>
    public bool IsArray { get; }

    /// <summary>Whether there is no value.</summary>
    public bool IsNull => Type == BuiltInType.Null;

    /// <summary>
    /// Lengths of the dimensions of an array with two or more, whose elements lie row by row; empty for others.
    /// </summary>
    public ReadOnlySpan<int> Dimensions => _object is Matrix matrix ? matrix.Dimensions : default;

    /// <summary>The bits of a number, time or status code.</summary>
    internal ulong Bits => _bits;

    /// <summary>The value if it is a text; null for others.</summary>
    internal string? Text => _object as string;

    /// <summary>The text, array or boxed value.</summary>
    internal object? Reference => _object is Matrix matrix ? matrix.Elements : _object;

    /// <summary>Creates a scalar value.</summary>
    /// <typeparam name="T">The .NET type of a built-in type; see <see cref="BuiltInType"/>.</typeparam>
    /// <param name="value">The value. A null text gives a null String.</param>
    /// <exception cref="NotSupportedException">
    /// <typeparamref name="T"/> is the type of no built-in type, or is <see cref="Variant"/>.
    /// </exception>
    public static Variant From<T>(T value)
    {
        BuiltInType type = BuiltInTypes.OfScalar<T>();
        return type switch
        {
            BuiltInType.Boolean => Scalar(type, (bool)(object)value! ? 1u : 0u),
            BuiltInType.SByte => Scalar(type, (byte)(sbyte)(object)value!),
            BuiltInType.Byte => Scalar(type, (byte)(object)value!),
            BuiltInType.Int16 => Scalar(type, (ushort)(short)(object)value!),
            BuiltInType.UInt16 => Scalar(type, (ushort)(object)value!),
            BuiltInType.Int32 => Scalar(type, (uint)(int)(object)value!),
            BuiltInType.UInt32 => Scalar(type, (uint)(object)value!),
            BuiltInType.Int64 => Scalar(type, (ulong)(long)(object)value!),
            BuiltInType.UInt64 => Scalar(type, (ulong)(object)value!),
            BuiltInType.Float => Scalar(type, BitConverter.SingleToUInt32Bits((float)(object)value!)),
            BuiltInType.Double => Scalar(type, BitConverter.DoubleToUInt64Bits((double)(object)value!)),
            BuiltInType.DateTime => Scalar(type, (ulong)UaTime.UtcTicks((DateTime)(object)value!)),
            BuiltInType.StatusCode => Scalar(type, ((StatusCode)(object)value!).Value),
            BuiltInType.ByteString => OfParts(type, ((ByteString)(object)value!).Parts),
            BuiltInType.NodeId => OfParts(type, ((NodeId)(object)value!).Parts),
            BuiltInType.QualifiedName => OfName((QualifiedName)(object)value!),
            BuiltInType.XmlElement => new Variant(type, isArray: false, ((XmlElement)(object)value!).Xml, 0),
            _ => new Variant(type, isArray: false, value, 0),
        };
    }

    /// <summary>Creates an array value.</summary>
    /// <typeparam name="T">The .NET type of a built-in type; also <see cref="Variant"/>.</typeparam>
    /// <param name="elements">The elements, which must not be changed later; null for a null array.</param>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not the type of a built-in type.</exception>
    public static Variant FromArray<T>(T[]? elements) => new(BuiltInTypes.OfElement<T>(), isArray: true, elements, 0);

    /// <summary>Creates an array with two or more dimensions.</summary>
    /// <typeparam name="T">The .NET type of a built-in type; also <see cref="Variant"/>.</typeparam>
    /// <param name="elements">The elements, row by row, which must not be changed later.</param>
    /// <param name="dimensions">The lengths of the dimensions, each 0 or more; their product is the number of elements.</param>
    /// <exception cref="ArgumentException">The dimensions do not match the elements.</exception>
    public static Variant FromMatrix<T>(T[] elements, params int[] dimensions)
    {
        ArgumentNullException.ThrowIfNull(elements);
        ArgumentNullException.ThrowIfNull(dimensions);
        if (!Matrix.Fits(elements.Length, dimensions))
        {
            throw new ArgumentException(
                $"The dimensions [{string.Join(", ", dimensions)}] do not fit {elements.Length} elements: give two or more, none of them "
                + "negative, whose product is the number of elements.",
                nameof(dimensions));
        }

        return new Variant(BuiltInTypes.OfElement<T>(), isArray: true, new Matrix(elements, dimensions), 0);
    }

    /// <summary>The scalar value.</summary>
    /// <typeparam name="T">The .NET type of <see cref="Type"/>.</typeparam>
    /// <exception cref="InvalidCastException">The value has another type, or is an array.</exception>
    public T Get<T>() =>
        TryGet(out T value)
            ? value
            : throw new InvalidCastException($"The variant holds {Describe()}, not a {typeof(T).Name}.");

    /// <summary>The elements of an array of any number of dimensions, row by row; null for a null array. Do not change them.</summary>
    /// <typeparam name="T">The .NET type of <see cref="Type"/>.</typeparam>
    /// <exception cref="InvalidCastException">The value has another type, or is not an array.</exception>
    public T[]? GetArray<T>() =>
        IsArray && Type == BuiltInTypes.OfElement<T>()
            ? (T[]?)Reference
            : throw new InvalidCastException($"The variant holds {Describe()}, not an array of {typeof(T).Name}.");

    /// <summary>The scalar value, if it has this type.</summary>
    /// <typeparam name="T">The .NET type of a built-in type.</typeparam>
    /// <param name="value">The value, on success.</param>
    public bool TryGet<T>(out T value)
    {
        BuiltInType type = BuiltInTypes.OfScalar<T>();
        if (IsArray || Type != type)
        {
            value = default!;
            return false;
        }

        // The JIT compiles one branch for each value type, without boxing.
        value = type switch
        {
            BuiltInType.Boolean => As<bool, T>(_bits != 0),
            BuiltInType.SByte => As<sbyte, T>((sbyte)_bits),
            BuiltInType.Byte => As<byte, T>((byte)_bits),
            BuiltInType.Int16 => As<short, T>((short)_bits),
            BuiltInType.UInt16 => As<ushort, T>((ushort)_bits),
            BuiltInType.Int32 => As<int, T>((int)_bits),
            BuiltInType.UInt32 => As<uint, T>((uint)_bits),
            BuiltInType.Int64 => As<long, T>((long)_bits),
            BuiltInType.UInt64 => As<ulong, T>(_bits),
            BuiltInType.Float => As<float, T>(BitConverter.UInt32BitsToSingle((uint)_bits)),
            BuiltInType.Double => As<double, T>(BitConverter.UInt64BitsToDouble(_bits)),
            BuiltInType.DateTime => As<DateTime, T>(new DateTime((long)_bits, DateTimeKind.Utc)),
            BuiltInType.StatusCode => As<StatusCode, T>(new StatusCode((uint)_bits)),
            BuiltInType.ByteString => As<ByteString, T>(ByteString.FromParts(_object, _bits)),
            BuiltInType.NodeId => As<NodeId, T>(NodeId.FromParts(_object, _bits)),
            BuiltInType.QualifiedName => As<QualifiedName, T>(new QualifiedName((ushort)_bits, (string?)_object)),
            BuiltInType.XmlElement => As<XmlElement, T>(new XmlElement((string?)_object)),
            _ => (T)_object!,
        };
        return true;
    }

    /// <summary>The value as an object: boxed, or an array. Null for no value.</summary>
    public object? ToObject() => IsArray ? Reference : Type switch
    {
        BuiltInType.Null => null,
        BuiltInType.Boolean => Get<bool>(),
        BuiltInType.SByte => Get<sbyte>(),
        BuiltInType.Byte => Get<byte>(),
        BuiltInType.Int16 => Get<short>(),
        BuiltInType.UInt16 => Get<ushort>(),
        BuiltInType.Int32 => Get<int>(),
        BuiltInType.UInt32 => Get<uint>(),
        BuiltInType.Int64 => Get<long>(),
        BuiltInType.UInt64 => Get<ulong>(),
        BuiltInType.Float => Get<float>(),
        BuiltInType.Double => Get<double>(),
        BuiltInType.DateTime => Get<DateTime>(),
        BuiltInType.StatusCode => Get<StatusCode>(),
        BuiltInType.ByteString => Get<ByteString>(),
        BuiltInType.NodeId => Get<NodeId>(),
        BuiltInType.QualifiedName => Get<QualifiedName>(),
        BuiltInType.XmlElement => Get<XmlElement>(),
        _ => _object,
    };

    /// <summary>Whether both have the same type, dimensions and values.</summary>
    public bool Equals(Variant other)
    {
        if (Type != other.Type || IsArray != other.IsArray || !Dimensions.SequenceEqual(other.Dimensions))
        {
            return false;
        }

        return IsArray ? ElementsEqual((Array?)Reference, (Array?)other.Reference) : Equals(ToObject(), other.ToObject());
    }

    /// <summary>Whether the object is a variant of the same type, dimensions and values.</summary>
    public override bool Equals(object? obj) => obj is Variant other && Equals(other);

    /// <summary>A hash code: of the type and the value, or of the type and the length of an array.</summary>
    public override int GetHashCode() =>
        HashCode.Combine(Type, IsArray, IsArray ? (Reference as Array)?.Length ?? -1 : ToObject()?.GetHashCode() ?? 0);

    /// <summary>The value as text, in the invariant culture. Of an array, at most the first 16 elements.</summary>
    public override string ToString()
    {
        if (Reference is Array array)
        {
            const int Shown = 16;
            IEnumerable<string?> texts = array.Cast<object?>().Take(Shown)
                .Select(static e => Convert.ToString(e, CultureInfo.InvariantCulture));
            return $"[{string.Join(", ", texts)}{(array.Length > Shown ? ", ..." : string.Empty)}]";
        }

        return Convert.ToString(ToObject(), CultureInfo.InvariantCulture) ?? string.Empty;
    }

    /// <summary>
    /// A ByteString as the array of Byte that it stands for where one is expected (OPC 10000-4, 5.11.4.2); any other value as it is.
    /// </summary>
    internal Variant BytesAsArray() => TryGet(out ByteString bytes) ? FromArray(bytes.ToArray()) : this;

    /// <summary>A scalar value that consists of its 64 bits.</summary>
    internal static Variant Scalar(BuiltInType type, ulong bits) => new(type, isArray: false, null, bits);

    /// <summary>A scalar value that a reference holds.</summary>
    internal static Variant OfReference(BuiltInType type, object? reference) => new(type, isArray: false, reference, 0);

    /// <summary>A scalar value of a reference and 64 bits.</summary>
    internal static Variant OfParts(BuiltInType type, (object? Reference, ulong Bits) parts) =>
        new(type, isArray: false, parts.Reference, parts.Bits);

    /// <summary>A qualified name.</summary>
    internal static Variant OfName(QualifiedName name) => new(BuiltInType.QualifiedName, isArray: false, name.Name, name.NamespaceIndex);

    /// <summary>An array whose dimensions, if any, were checked.</summary>
    internal static Variant OfArray(BuiltInType type, Array? elements, int[]? dimensions) =>
        new(type, isArray: true, dimensions is null ? elements : new Matrix(elements!, dimensions), 0);

    // Numbers, times and texts without boxing; elements by their Equals, so NaN is NaN, and -0.0 is 0.0.
    private bool ElementsEqual(Array? left, Array? right)
    {
        if (ReferenceEquals(left, right) || left is null || right is null)
        {
            return ReferenceEquals(left, right);
        }

        return Type switch
        {
            BuiltInType.Boolean => ElementsEqual<bool>(left, right),
            BuiltInType.SByte => ElementsEqual<sbyte>(left, right),
            BuiltInType.Byte => ElementsEqual<byte>(left, right),
            BuiltInType.Int16 => ElementsEqual<short>(left, right),
            BuiltInType.UInt16 => ElementsEqual<ushort>(left, right),
            BuiltInType.Int32 => ElementsEqual<int>(left, right),
            BuiltInType.UInt32 => ElementsEqual<uint>(left, right),
            BuiltInType.Int64 => ElementsEqual<long>(left, right),
            BuiltInType.UInt64 => ElementsEqual<ulong>(left, right),
            BuiltInType.Float => ElementsEqual<float>(left, right),
            BuiltInType.Double => ElementsEqual<double>(left, right),
            BuiltInType.DateTime => ElementsEqual<DateTime>(left, right),
            BuiltInType.String => ElementsEqual<string>(left, right),
            BuiltInType.ByteString => ElementsEqual<ByteString>(left, right),
            _ => System.Collections.StructuralComparisons.StructuralEqualityComparer.Equals(left, right),
        };
    }

    private static bool ElementsEqual<T>(Array left, Array right)
        where T : IEquatable<T> => ((T[])left).AsSpan().SequenceEqual((T[])right);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static TTo As<TFrom, TTo>(TFrom value) => Unsafe.As<TFrom, TTo>(ref value);

    private string Describe() => IsNull ? "no value" : IsArray ? $"an array of {Type}" : $"a {Type}";
}
