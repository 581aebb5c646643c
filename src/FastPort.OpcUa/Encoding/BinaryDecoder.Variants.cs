using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.OpcUa.Encoding;

/// <content>Variants and arrays.</content>
internal ref partial struct BinaryDecoder
{
    private const byte ArrayBit = 0x80;
    private const byte DimensionsBit = 0x40;

    // For an array whose elements use more memory than bytes on the wire. A level of nested arrays has 5 bytes.
    private const int FirstElements = 16;

    // The memory of an array without its elements.
    private const int ArrayBytes = 24;

    public Variant ReadVariant()
    {
        byte mask = Read<byte>();
        var type = (BuiltInType)(mask & 0x3F);
        if (type > BuiltInType.DiagnosticInfo && (int)type <= 31)
        {
            // Reserved types are read as byte strings (OPC 10000-6, 5.2.2.16).
            type = BuiltInType.ByteString;
        }

        if ((mask & ArrayBit) != 0)
        {
            return ReadVariantArray(type, (mask & DimensionsBit) != 0);
        }

        if ((mask & DimensionsBit) != 0)
        {
            Fail(StatusCodes.BadDecodingError);
            return default;
        }

        return type switch
        {
            BuiltInType.Null => default,
            BuiltInType.Int32 or BuiltInType.UInt32 or BuiltInType.Float or BuiltInType.StatusCode => Variant.Scalar(type, Read<uint>()),
            BuiltInType.Double or BuiltInType.Int64 or BuiltInType.UInt64 => Variant.Scalar(type, Read<ulong>()),
            BuiltInType.Int16 or BuiltInType.UInt16 => Variant.Scalar(type, Read<ushort>()),
            BuiltInType.SByte or BuiltInType.Byte => Variant.Scalar(type, Read<byte>()),
            BuiltInType.Boolean => Variant.Scalar(type, ReadBoolean() ? 1u : 0u),
            BuiltInType.DateTime => Variant.Scalar(type, (ulong)UaTime.TicksFromWire(Read<long>())),
            BuiltInType.String or BuiltInType.XmlElement => Variant.OfReference(type, ReadString()),
            BuiltInType.ByteString => Variant.OfParts(type, ReadByteString().Parts),
            BuiltInType.NodeId => Variant.OfParts(type, ReadNodeId().Parts),
            BuiltInType.QualifiedName => Variant.OfName(ReadQualifiedName()),
            BuiltInType.ExtensionObject => Variant.OfReference(type, ReadExtensionObject()),
            BuiltInType.DiagnosticInfo => Variant.OfReference(type, ReadDiagnosticInfo()),
            BuiltInType.Guid => Variant.OfReference(type, ReadGuid()),
            BuiltInType.ExpandedNodeId when TryTakeMemory(ObjectBytes) => Variant.OfReference(type, ReadExpandedNodeId()),
            BuiltInType.LocalizedText when TryTakeMemory(ObjectBytes) => Variant.OfReference(type, ReadLocalizedText()),
            BuiltInType.DataValue => ReadNestedDataValue(),
            _ => Invalid(),
        };
    }

    /// <summary>An array of a built-in type; null for a null array and after a fault.</summary>
    public T[]? ReadArray<T>()
    {
        if (BuiltInTypes.IsBlittable<T>())
        {
            int count = ReadArrayLength(Unsafe.SizeOf<T>());
            if (count < 0 || !TryTakeMemory(ArrayBytes + ((long)count * Unsafe.SizeOf<T>())))
            {
                return null;
            }

            var numbers = new T[count];
            int bytes = count * Unsafe.SizeOf<T>();
            Take(bytes).CopyTo(MemoryMarshal.CreateSpan(ref Unsafe.As<T, byte>(ref MemoryMarshal.GetArrayDataReference(numbers)), bytes));
            return numbers;
        }

        int length = ReadArrayLength(MinimumBytes<T>());
        if (length < 0)
        {
            return null;
        }

        // The array grows with the actual elements: in nested arrays, each level may claim all remaining bytes.
        T[] elements = [];
        for (int i = 0; i < length; i++)
        {
            if (i == elements.Length && !TryGrow(ref elements, Math.Min(length, Math.Max(2 * i, FirstElements))))
            {
                return null;
            }

            if (typeof(T) == typeof(DataValue))
            {
                ReadDataValue(out Unsafe.As<T, DataValue>(ref elements[i]));
            }
            else
            {
                elements[i] = ReadElement<T>();
            }

            if (!_fault.IsGood)
            {
                return null;
            }
        }

        return elements;
    }

    // The old array is garbage and not counted.
    private bool TryGrow<T>(ref T[] elements, int length)
    {
        if (!TryTakeMemory((elements.Length == 0 ? ArrayBytes : 0) + ((long)(length - elements.Length) * Unsafe.SizeOf<T>())))
        {
            return false;
        }

        System.Array.Resize(ref elements, length);
        return true;
    }

    private Variant Invalid()
    {
        Fail(StatusCodes.BadDecodingError);
        return default;
    }

    private Variant ReadNestedDataValue()
    {
        if (!TryTakeMemory(ObjectBytes) || !Enter(EncodingLimits.MaxDepth))
        {
            return default;
        }

        DataValue value = ReadDataValue();
        _depth--;
        return Variant.OfReference(BuiltInType.DataValue, value);
    }

    private Variant ReadVariantArray(BuiltInType type, bool hasDimensions)
    {
        if (!Enter(EncodingLimits.MaxDepth))
        {
            return default;
        }

        Array? elements = type switch
        {
            BuiltInType.Boolean => ReadArray<bool>(),
            BuiltInType.SByte => ReadArray<sbyte>(),
            BuiltInType.Byte => ReadArray<byte>(),
            BuiltInType.Int16 => ReadArray<short>(),
            BuiltInType.UInt16 => ReadArray<ushort>(),
            BuiltInType.Int32 => ReadArray<int>(),
            BuiltInType.UInt32 => ReadArray<uint>(),
            BuiltInType.Int64 => ReadArray<long>(),
            BuiltInType.UInt64 => ReadArray<ulong>(),
            BuiltInType.Float => ReadArray<float>(),
            BuiltInType.Double => ReadArray<double>(),
            BuiltInType.String => ReadArray<string>(),
            BuiltInType.DateTime => ReadArray<DateTime>(),
            BuiltInType.Guid => ReadArray<Guid>(),
            BuiltInType.ByteString => ReadArray<ByteString>(),
            BuiltInType.XmlElement => ReadArray<XmlElement>(),
            BuiltInType.NodeId => ReadArray<NodeId>(),
            BuiltInType.ExpandedNodeId => ReadArray<ExpandedNodeId>(),
            BuiltInType.StatusCode => ReadArray<StatusCode>(),
            BuiltInType.QualifiedName => ReadArray<QualifiedName>(),
            BuiltInType.LocalizedText => ReadArray<LocalizedText>(),
            BuiltInType.ExtensionObject => ReadArray<ExtensionObject>(),
            BuiltInType.DataValue => ReadArray<DataValue>(),
            BuiltInType.Variant => ReadArray<Variant>(),
            BuiltInType.DiagnosticInfo => ReadArray<DiagnosticInfo>(),
            _ => Invalid().ToObject() as Array,
        };
        int[]? dimensions = hasDimensions ? ReadArray<int>() : null;
        _depth--;
        if (!_fault.IsGood)
        {
            return default;
        }

        if (dimensions is { Length: > 1 })
        {
            if (!Matrix.Fits(elements?.Length ?? 0, dimensions))
            {
                _hasInvalid = true;
                return default;
            }

            return Variant.OfArray(type, elements, elements is null ? null : dimensions);
        }

        return Variant.OfArray(type, elements, dimensions: null);
    }

    private static int MinimumBytes<T>() =>
        typeof(T) == typeof(string) || typeof(T) == typeof(ByteString) || typeof(T) == typeof(XmlElement) ? 4
        : typeof(T) == typeof(DateTime) ? 8
        : typeof(T) == typeof(QualifiedName) ? 6
        : typeof(T) == typeof(ExtensionObject) ? 3
        : typeof(T) == typeof(NodeId) || typeof(T) == typeof(ExpandedNodeId) ? 2
        : 1;

    private T ReadElement<T>()
    {
        if (typeof(T) == typeof(bool))
        {
            return (T)(object)ReadBoolean();
        }

        if (typeof(T) == typeof(string))
        {
            return (T)(object)ReadString()!;
        }

        if (typeof(T) == typeof(DateTime))
        {
            return (T)(object)ReadDateTime();
        }

        if (typeof(T) == typeof(ByteString))
        {
            return (T)(object)ReadByteString();
        }

        if (typeof(T) == typeof(XmlElement))
        {
            return (T)(object)new XmlElement(ReadString());
        }

        if (typeof(T) == typeof(NodeId))
        {
            return (T)(object)ReadNodeId();
        }

        if (typeof(T) == typeof(ExpandedNodeId))
        {
            return (T)(object)ReadExpandedNodeId();
        }

        if (typeof(T) == typeof(QualifiedName))
        {
            return (T)(object)ReadQualifiedName();
        }

        if (typeof(T) == typeof(LocalizedText))
        {
            return (T)(object)ReadLocalizedText();
        }

        if (typeof(T) == typeof(ExtensionObject))
        {
            return (T)(object)ReadExtensionObject()!;
        }

        if (typeof(T) == typeof(Variant))
        {
            return (T)(object)ReadVariant();
        }

        if (typeof(T) == typeof(DiagnosticInfo))
        {
            return (T)(object)ReadDiagnosticInfo()!;
        }

        throw new NotSupportedException($"{typeof(T)} is not the .NET type of an OPC UA built-in type.");
    }
}
