using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.OpcUa.Encoding;

/// <content>Variants and arrays.</content>
internal ref partial struct BinaryEncoder
{
    public void WriteVariant(in Variant value)
    {
        BuiltInType type = value.Type;
        if (value.IsArray)
        {
            WriteVariantArray(value);
            return;
        }

        Write((byte)type);
        switch (type)
        {
            case BuiltInType.Null:
                break;
            case BuiltInType.Int32 or BuiltInType.UInt32 or BuiltInType.Float or BuiltInType.StatusCode:
                Write((uint)value.Bits);
                break;
            case BuiltInType.Double or BuiltInType.Int64 or BuiltInType.UInt64:
                Write(value.Bits);
                break;
            case BuiltInType.Int16 or BuiltInType.UInt16:
                Write((ushort)value.Bits);
                break;
            case BuiltInType.SByte or BuiltInType.Byte or BuiltInType.Boolean:
                Write((byte)value.Bits);
                break;
            case BuiltInType.DateTime:
                Write(UaTime.ToWire((long)value.Bits));
                break;
            case BuiltInType.String or BuiltInType.XmlElement:
                WriteString((string?)value.Reference);
                break;
            case BuiltInType.ByteString:
                WriteByteString(ByteString.FromParts(value.Reference, value.Bits));
                break;
            case BuiltInType.NodeId:
                WriteNodeId(NodeId.FromParts(value.Reference, value.Bits));
                break;
            case BuiltInType.QualifiedName:
                WriteQualifiedName(new QualifiedName((ushort)value.Bits, (string?)value.Reference));
                break;
            case BuiltInType.ExtensionObject:
                WriteExtensionObject((ExtensionObject?)value.Reference);
                break;
            case BuiltInType.DiagnosticInfo:
                WriteDiagnosticInfo((DiagnosticInfo?)value.Reference);
                break;
            case BuiltInType.Guid:
                Write((Guid)value.Reference!);
                break;
            case BuiltInType.ExpandedNodeId:
                WriteExpandedNodeId((ExpandedNodeId)value.Reference!);
                break;
            case BuiltInType.LocalizedText:
                WriteLocalizedText((LocalizedText)value.Reference!);
                break;
            case BuiltInType.DataValue:
                WriteDataValue((DataValue)value.Reference!);
                break;
            default:
                throw new InvalidOperationException($"A scalar variant cannot hold a {type}.");
        }
    }

    public void WriteArray<T>(T[]? values)
    {
        Write(values?.Length ?? -1);
        if (values is null)
        {
            return;
        }

        if (BuiltInTypes.IsBlittable<T>())
        {
            WriteBytes(MemoryMarshal.CreateReadOnlySpan(
                ref Unsafe.As<T, byte>(ref MemoryMarshal.GetArrayDataReference(values)), values.Length * Unsafe.SizeOf<T>()));
            return;
        }

        if (typeof(T) == typeof(DataValue))
        {
            // Large, and read by the thousand: not copied.
            ref DataValue first = ref Unsafe.As<T, DataValue>(ref MemoryMarshal.GetArrayDataReference(values));
            Values(MemoryMarshal.CreateSpan(ref first, values.Length));
            return;
        }

        foreach (T value in values)
        {
            WriteElement(value);
        }
    }

    private void WriteVariantArray(in Variant value)
    {
        ReadOnlySpan<int> dimensions = value.Dimensions;
        Write((byte)((int)value.Type | 0x80 | (dimensions.IsEmpty ? 0 : 0x40)));
        object? elements = value.Reference;
        switch (value.Type)
        {
            case BuiltInType.Boolean:
                WriteArray((bool[]?)elements);
                break;
            case BuiltInType.SByte:
                WriteArray((sbyte[]?)elements);
                break;
            case BuiltInType.Byte:
                WriteArray((byte[]?)elements);
                break;
            case BuiltInType.Int16:
                WriteArray((short[]?)elements);
                break;
            case BuiltInType.UInt16:
                WriteArray((ushort[]?)elements);
                break;
            case BuiltInType.Int32:
                WriteArray((int[]?)elements);
                break;
            case BuiltInType.UInt32:
                WriteArray((uint[]?)elements);
                break;
            case BuiltInType.Int64:
                WriteArray((long[]?)elements);
                break;
            case BuiltInType.UInt64:
                WriteArray((ulong[]?)elements);
                break;
            case BuiltInType.Float:
                WriteArray((float[]?)elements);
                break;
            case BuiltInType.Double:
                WriteArray((double[]?)elements);
                break;
            case BuiltInType.String:
                WriteArray((string?[]?)elements);
                break;
            case BuiltInType.DateTime:
                WriteArray((DateTime[]?)elements);
                break;
            case BuiltInType.Guid:
                WriteArray((Guid[]?)elements);
                break;
            case BuiltInType.ByteString:
                WriteArray((ByteString[]?)elements);
                break;
            case BuiltInType.XmlElement:
                WriteArray((XmlElement[]?)elements);
                break;
            case BuiltInType.NodeId:
                WriteArray((NodeId[]?)elements);
                break;
            case BuiltInType.ExpandedNodeId:
                WriteArray((ExpandedNodeId[]?)elements);
                break;
            case BuiltInType.StatusCode:
                WriteArray((StatusCode[]?)elements);
                break;
            case BuiltInType.QualifiedName:
                WriteArray((QualifiedName[]?)elements);
                break;
            case BuiltInType.LocalizedText:
                WriteArray((LocalizedText[]?)elements);
                break;
            case BuiltInType.ExtensionObject:
                WriteArray((ExtensionObject?[]?)elements);
                break;
            case BuiltInType.DataValue:
                WriteArray((DataValue[]?)elements);
                break;
            case BuiltInType.Variant:
                WriteArray((Variant[]?)elements);
                break;
            case BuiltInType.DiagnosticInfo:
                WriteArray((DiagnosticInfo?[]?)elements);
                break;
            default:
                throw new InvalidOperationException($"A variant cannot hold an array of {value.Type}.");
        }

        if (!dimensions.IsEmpty)
        {
            Write(dimensions.Length);
            WriteBytes(MemoryMarshal.AsBytes(dimensions));
        }
    }

    private void WriteElement<T>(T value)
    {
        if (typeof(T) == typeof(bool))
        {
            WriteBoolean((bool)(object)value!);
        }
        else if (typeof(T) == typeof(string))
        {
            WriteString((string?)(object?)value);
        }
        else if (typeof(T) == typeof(DateTime))
        {
            WriteDateTime((DateTime)(object)value!);
        }
        else if (typeof(T) == typeof(ByteString))
        {
            WriteByteString((ByteString)(object)value!);
        }
        else if (typeof(T) == typeof(XmlElement))
        {
            WriteString(((XmlElement)(object)value!).Xml);
        }
        else if (typeof(T) == typeof(NodeId))
        {
            WriteNodeId((NodeId)(object)value!);
        }
        else if (typeof(T) == typeof(ExpandedNodeId))
        {
            WriteExpandedNodeId((ExpandedNodeId)(object)value!);
        }
        else if (typeof(T) == typeof(QualifiedName))
        {
            WriteQualifiedName((QualifiedName)(object)value!);
        }
        else if (typeof(T) == typeof(LocalizedText))
        {
            WriteLocalizedText((LocalizedText)(object)value!);
        }
        else if (typeof(T) == typeof(ExtensionObject))
        {
            WriteExtensionObject((ExtensionObject?)(object?)value);
        }
        else if (typeof(T) == typeof(Variant))
        {
            WriteVariant((Variant)(object)value!);
        }
        else if (typeof(T) == typeof(DiagnosticInfo))
        {
            WriteDiagnosticInfo((DiagnosticInfo?)(object?)value);
        }
        else
        {
            throw new NotSupportedException($"{typeof(T)} is not the .NET type of an OPC UA built-in type.");
        }
    }
}
