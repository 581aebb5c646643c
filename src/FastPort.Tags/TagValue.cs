using System.Globalization;
using System.Runtime.CompilerServices;

namespace FastPort.Tags;

/// <summary>
/// The value of a tag with its exact type: one of <see cref="TagType"/>, or an array of it. Immutable. Numbers are stored without a further
/// object.
/// </summary>
public readonly partial struct TagValue : IEquatable<TagValue>
{
    // Approximate overhead of an object, in bytes.
    private const int ObjectBytes = 24;

    // Text, bytes, or the elements of an array; null for numbers.
    private readonly object? _object;
    private readonly int[]? _dimensions;

    // The bits of a number; signed ones are extended.
    private readonly ulong _bits;

    internal TagValue(TagType type, ulong bits)
    {
        Type = type;
        _bits = bits;
    }

    internal TagValue(TagType type, bool isArray, object? value, int[]? dimensions = null)
    {
        Type = type;
        IsArray = isArray;
        _object = value;
        _dimensions = dimensions;
    }

    /// <summary>The type of the value, or of an array's elements.</summary>
    public TagType Type { get; }

    /// <summary>Whether the value is an array, of one or more dimensions.</summary>
    public bool IsArray { get; }

    /// <summary>Whether there is no value.</summary>
    public bool IsNull => Type == TagType.Null;

    /// <summary>Lengths of the dimensions of an array with two or more, whose elements lie row by row; empty for others.</summary>
    public ReadOnlySpan<int> Dimensions => _dimensions;

    /// <summary>The number of dimensions; 0 for a scalar, -1 for an array without elements.</summary>
    internal int DimensionCount => !IsArray ? 0 : _object is Array { Length: > 0 } ? _dimensions?.Length ?? 1 : -1;

    internal ulong Bits => _bits;

    internal object? Reference => _object;

    /// <summary>Approximate bytes of memory of the value in addition to this struct: 0 for a number.</summary>
    internal long ReferenceBytes => _object switch
    {
        null => 0,
        string text => BytesOf(text),
        string?[] texts => ObjectBytes + texts.Sum(static text => sizeof(ulong) + BytesOf(text)),
        byte[]?[] elements => ObjectBytes + elements.Sum(static bytes => sizeof(ulong) + (bytes is null ? 0L : ObjectBytes + bytes.Length)),
        Array elements when elements.GetType().GetElementType()!.IsPrimitive => ObjectBytes + Buffer.ByteLength(elements),
        Array elements => ObjectBytes + (sizeof(ulong) * elements.LongLength),
        _ => ObjectBytes,
    };

    /// <summary>The encoding byte of the type (OPC 10000-6, 5.2.2.16).</summary>
    internal byte Encoding =>
        (byte)((byte)Type | (IsArray ? TagTypes.ArrayBit : 0) | (_dimensions is null ? 0 : TagTypes.DimensionsBit));

    /// <summary>Creates a scalar value.</summary>
    /// <typeparam name="T">A .NET type that <see cref="TagType"/> names; an array of <see cref="byte"/> gives a ByteString.</typeparam>
    /// <param name="value">The value. A null text gives a null String.</param>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not a type of values.</exception>
    public static TagValue From<T>(T value)
    {
        TagType type = TagTypes.Of<T>();
        return type switch
        {
            TagType.Boolean => new(type, (bool)(object)value! ? 1u : 0u),
            TagType.SByte => new(type, (ulong)(sbyte)(object)value!),
            TagType.Byte => new(type, (byte)(object)value!),
            TagType.Int16 => new(type, (ulong)(short)(object)value!),
            TagType.UInt16 => new(type, (ushort)(object)value!),
            TagType.Int32 => new(type, (ulong)(int)(object)value!),
            TagType.UInt32 => new(type, (uint)(object)value!),
            TagType.Int64 => new(type, (ulong)(long)(object)value!),
            TagType.UInt64 => new(type, (ulong)(object)value!),
            TagType.Float => new(type, BitConverter.SingleToUInt32Bits((float)(object)value!)),
            TagType.Double => new(type, BitConverter.DoubleToUInt64Bits((double)(object)value!)),
            TagType.DateTime => new(type, (ulong)TagTime.ToWire((DateTime)(object)value!)),
            TagType.StatusCode => new(type, ((TagStatus)(object)value!).Code),
            TagType.String or TagType.ByteString => new(type, isArray: false, value),
            _ => throw NotSupported<T>(),
        };
    }

    /// <summary>Creates an array value.</summary>
    /// <typeparam name="T">A .NET type that <see cref="TagType"/> names.</typeparam>
    /// <param name="elements">The elements, which must not be changed later; null for a null array.</param>
    /// <param name="dimensions">
    /// The lengths of two or more dimensions, whose product is the number of elements. Defaults to none: one dimension.
    /// </param>
    /// <exception cref="ArgumentException">The dimensions do not match the elements.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not a type of values.</exception>
    public static TagValue FromArray<T>(T[]? elements, params int[] dimensions)
    {
        ArgumentNullException.ThrowIfNull(dimensions);
        TagType type = TagTypes.Of<T>();
        if (dimensions.Length != 0 && !Fits(elements?.Length ?? -1, dimensions))
        {
            throw new ArgumentException(
                $"The dimensions [{string.Join(", ", dimensions)}] do not fit {elements?.Length ?? 0} elements: give two or more whose "
                + "product is that.",
                nameof(dimensions));
        }

        return type == TagType.Null
            ? throw NotSupported<T>()
            : new(type, isArray: true, elements, dimensions.Length == 0 ? null : dimensions);
    }

    /// <summary>Creates a value of a type that is held as bytes or as a text, such as NodeId or XmlElement.</summary>
    /// <param name="type">The type: one from String on.</param>
    /// <param name="bytes">The value in OPC UA Binary; UTF-8 for texts. Must not be changed later. Null for a null value.</param>
    /// <exception cref="ArgumentOutOfRangeException">Values of <paramref name="type"/> are not held as bytes.</exception>
    public static TagValue FromBytes(TagType type, byte[]? bytes) =>
        TagTypes.ColumnOf(type) != TagColumn.Data
            ? throw new ArgumentOutOfRangeException(nameof(type), type, "Values of this type are not held as bytes; use From.")
            : new(type, isArray: false, bytes is not null && TagTypes.IsText(type) ? System.Text.Encoding.UTF8.GetString(bytes) : bytes);

    /// <summary>Creates an array of a type that is held as bytes or as a text, such as NodeId or XmlElement.</summary>
    /// <param name="type">The elements' type: one from String on.</param>
    /// <param name="elements">
    /// The elements in OPC UA Binary; UTF-8 for texts. They must not be changed later. Null for a null array.
    /// </param>
    /// <param name="dimensions">As in FromArray.</param>
    /// <exception cref="ArgumentException">Such values are not held as bytes, or the dimensions do not match the elements.</exception>
    public static TagValue FromElements(TagType type, byte[]?[]? elements, params int[] dimensions)
    {
        Array? held = elements is not null && TagTypes.IsText(type)
            ? Array.ConvertAll(elements, static bytes => bytes is null ? null : System.Text.Encoding.UTF8.GetString(bytes))
            : elements;
        _ = FromBytes(type, null);
        TagValue array = FromArray(elements, dimensions);
        return new(type, isArray: true, held, array._dimensions);
    }

    /// <summary>The scalar value.</summary>
    /// <typeparam name="T">The .NET type of <see cref="Type"/>.</typeparam>
    /// <exception cref="InvalidCastException">The value has another type, or is an array.</exception>
    public T Get<T>() =>
        TryGet(out T value) ? value : throw new InvalidCastException($"The tag's value is {Describe()}, not a {typeof(T).Name}.");

    /// <summary>The scalar value, if it has this type.</summary>
    /// <typeparam name="T">The .NET type of <see cref="Type"/>.</typeparam>
    /// <param name="value">The value, on success.</param>
    public bool TryGet<T>(out T value)
    {
        TagType type = TagTypes.Of<T>();
        if (IsArray || !IsHeldAs(type))
        {
            value = default!;
            return false;
        }

        // The JIT compiles one branch for each value type, without boxing.
        value = type switch
        {
            TagType.Boolean => As<bool, T>(_bits != 0),
            TagType.SByte => As<sbyte, T>((sbyte)_bits),
            TagType.Byte => As<byte, T>((byte)_bits),
            TagType.Int16 => As<short, T>((short)_bits),
            TagType.UInt16 => As<ushort, T>((ushort)_bits),
            TagType.Int32 => As<int, T>((int)_bits),
            TagType.UInt32 => As<uint, T>((uint)_bits),
            TagType.Int64 => As<long, T>((long)_bits),
            TagType.UInt64 => As<ulong, T>(_bits),
            TagType.Float => As<float, T>(BitConverter.UInt32BitsToSingle((uint)_bits)),
            TagType.Double => As<double, T>(BitConverter.UInt64BitsToDouble(_bits)),
            TagType.DateTime => As<DateTime, T>(TagTime.FromWire((long)_bits)),
            TagType.StatusCode => As<TagStatus, T>(new TagStatus((uint)_bits)),
            _ => (T)_object!,
        };
        return true;
    }

    /// <summary>The elements of an array of any number of dimensions, row by row; null for a null array. Do not change them.</summary>
    /// <typeparam name="T">The .NET type of <see cref="Type"/>.</typeparam>
    /// <exception cref="InvalidCastException">The value has another type, or is not an array.</exception>
    public T[]? GetArray<T>() =>
        IsArray && (_object is T[] || (_object is null && IsHeldAs(TagTypes.Of<T>())))
            ? (T[]?)_object
            : throw new InvalidCastException($"The tag's value is {Describe()}, not an array of {typeof(T).Name}.");

    /// <summary>The value as an object: boxed, or an array. Null for no value.</summary>
    public object? ToObject() => IsArray ? _object : Type switch
    {
        TagType.Null => null,
        TagType.Boolean => Get<bool>(),
        TagType.SByte => Get<sbyte>(),
        TagType.Byte => Get<byte>(),
        TagType.Int16 => Get<short>(),
        TagType.UInt16 => Get<ushort>(),
        TagType.Int32 => Get<int>(),
        TagType.UInt32 => Get<uint>(),
        TagType.Int64 => Get<long>(),
        TagType.UInt64 => Get<ulong>(),
        TagType.Float => Get<float>(),
        TagType.Double => Get<double>(),
        TagType.DateTime => Get<DateTime>(),
        TagType.StatusCode => Get<TagStatus>(),
        _ => _object,
    };

    /// <summary>Whether both have the same type, dimensions and values.</summary>
    public bool Equals(TagValue other) =>
        Encoding == other.Encoding
        && _bits == other._bits
        && Dimensions.SequenceEqual(other.Dimensions)
        && System.Collections.StructuralComparisons.StructuralEqualityComparer.Equals(_object, other._object);

    /// <summary>Whether the object is a tag value of the same type, dimensions and values.</summary>
    public override bool Equals(object? obj) => obj is TagValue other && Equals(other);

    /// <summary>A hash code: of the type and the value, or of the type and the length of an array.</summary>
    public override int GetHashCode() => HashCode.Combine(Encoding, _bits, (_object as Array)?.Length ?? _object?.GetHashCode() ?? 0);

    /// <summary>
    /// The value as text, in the invariant culture: node ids as <c>ns=2;s=speed</c>, names as <c>2:speed</c>, localized texts without their
    /// locale, other bytes in hexadecimal. Of a long array the first 16 elements.
    /// </summary>
    public override string ToString()
    {
        const int Shown = 16;
        return ToObject() switch
        {
            byte[] bytes when !IsArray => Text(bytes)!,
            Array array => $"[{string.Join(", ", array.Cast<object?>().Take(Shown).Select(Text))}{(array.Length > Shown ? ", ..." : "")}]",
            object value => Text(value)!,
            null => string.Empty,
        };
    }

    /// <summary>Whether there are two or more dimensions, none of them negative, whose product is the number of elements.</summary>
    internal static bool Fits(int elements, ReadOnlySpan<int> dimensions)
    {
        if (dimensions.Length < 2)
        {
            return false;
        }

        // No overflow: elements is the bound of each step. Of a matrix without elements one length is 0, and the others may be any.
        long product = dimensions.Contains(0) ? 0 : 1;
        foreach (int length in dimensions)
        {
            product *= length;
            if (length < 0 || product > elements)
            {
                return false;
            }
        }

        return product == elements;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static TTo As<TFrom, TTo>(TFrom value) => Unsafe.As<TFrom, TTo>(ref value);

    // Types without a .NET type are held as bytes or as texts.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsHeldAs(TagType type) => type switch
    {
        TagType.Null => false,
        TagType.ByteString => TagTypes.ColumnOf(Type) == TagColumn.Data && !TagTypes.IsText(Type),
        TagType.String => TagTypes.IsText(Type),
        _ => Type == type,
    };

    private string? Text(object? value) => value switch
    {
        DateTime time => time.ToString("O", CultureInfo.InvariantCulture),
        byte[] bytes => BinaryText.Of(Type, bytes) ?? Convert.ToHexString(bytes),
        _ => Convert.ToString(value, CultureInfo.InvariantCulture),
    };

    private static long BytesOf(string? text) => text is null ? 0 : ObjectBytes + ((long)sizeof(char) * text.Length);

    private static NotSupportedException NotSupported<T>() => new($"{typeof(T)} is not a type of tag values; see TagType.");

    private string Describe() => IsNull ? "not there" : IsArray ? $"an array of {Type}" : $"a {Type}";
}
