using System.Buffers;
using FastPort.OpcUa;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>
/// Values of OPC UA as samples of tags, and back. Both have the same types; those without a .NET type stay in OPC UA Binary.
/// </summary>
internal static class TagValues
{
    /// <summary>Adds a row with a value, its status and its times.</summary>
    public static void Add(TagSamples samples, in DataValue value) => samples.Add(
        ToTagValue(value.Value), new TagStatus(value.Status.Value), value.SourceTimestamp, value.ServerTimestamp);

    public static TagValue ToTagValue(in Variant value) => value.IsArray ? ArrayOf(value) : value.Type switch
    {
        BuiltInType.Null => default,
        BuiltInType.Boolean => TagValue.From(value.Get<bool>()),
        BuiltInType.SByte => TagValue.From(value.Get<sbyte>()),
        BuiltInType.Byte => TagValue.From(value.Get<byte>()),
        BuiltInType.Int16 => TagValue.From(value.Get<short>()),
        BuiltInType.UInt16 => TagValue.From(value.Get<ushort>()),
        BuiltInType.Int32 => TagValue.From(value.Get<int>()),
        BuiltInType.UInt32 => TagValue.From(value.Get<uint>()),
        BuiltInType.Int64 => TagValue.From(value.Get<long>()),
        BuiltInType.UInt64 => TagValue.From(value.Get<ulong>()),
        BuiltInType.Float => TagValue.From(value.Get<float>()),
        BuiltInType.Double => TagValue.From(value.Get<double>()),
        BuiltInType.String => TagValue.From(value.Get<string?>()),
        BuiltInType.DateTime => TagValue.From(value.Get<DateTime>()),
        BuiltInType.StatusCode => TagValue.From(new TagStatus(value.Get<StatusCode>().Value)),
        BuiltInType.ByteString => TagValue.From(value.Get<ByteString>().ToArray()),
        _ => TagValue.FromBytes((TagType)value.Type, Binary(value)),
    };

    /// <summary>The variant of a value; false if its bytes are not of its type.</summary>
    public static bool TryToVariant(in TagValue value, out Variant variant)
    {
        if (value.IsArray)
        {
            return TryToArray(value, out variant);
        }

        variant = value.Type switch
        {
            TagType.Null => Variant.Null,
            TagType.Boolean => Variant.From(value.Get<bool>()),
            TagType.SByte => Variant.From(value.Get<sbyte>()),
            TagType.Byte => Variant.From(value.Get<byte>()),
            TagType.Int16 => Variant.From(value.Get<short>()),
            TagType.UInt16 => Variant.From(value.Get<ushort>()),
            TagType.Int32 => Variant.From(value.Get<int>()),
            TagType.UInt32 => Variant.From(value.Get<uint>()),
            TagType.Int64 => Variant.From(value.Get<long>()),
            TagType.UInt64 => Variant.From(value.Get<ulong>()),
            TagType.Float => Variant.From(value.Get<float>()),
            TagType.Double => Variant.From(value.Get<double>()),
            TagType.String => Variant.From(value.Get<string?>()),
            TagType.DateTime => Variant.From(value.Get<DateTime>()),
            TagType.StatusCode => Variant.From(new StatusCode(value.Get<TagStatus>().Code)),
            TagType.ByteString => Variant.From(new ByteString(value.Get<byte[]?>())),
            TagType.XmlElement => Variant.From(new XmlElement(value.Get<string?>())),
            _ => Variant.Null,
        };
        return value.Type < TagType.Guid || value.Type is TagType.ByteString or TagType.XmlElement or TagType.StatusCode
            || TryRead(value.Type, value.Get<byte[]?>(), out variant);
    }

    // The value without its type byte.
    private static byte[]? Binary(in Variant value)
    {
        if (value.Type == BuiltInType.XmlElement)
        {
            return value.Get<XmlElement>().Xml is { } xml ? System.Text.Encoding.UTF8.GetBytes(xml) : null;
        }

        var writer = new ArrayBufferWriter<byte>();
        value.WriteBinary(writer);
        return writer.WrittenSpan[1..].ToArray();
    }

    private static bool TryRead(TagType type, byte[]? bytes, out Variant variant)
    {
        variant = default;
        return bytes is not null && Variant.TryReadBinary([(byte)type, .. bytes], out variant) && (TagType)variant.Type == type;
    }

    private static TagValue ArrayOf(in Variant value)
    {
        int[] dimensions = value.Dimensions.ToArray();
        return value.Type switch
        {
            BuiltInType.Boolean => TagValue.FromArray(value.GetArray<bool>(), dimensions),
            BuiltInType.SByte => TagValue.FromArray(value.GetArray<sbyte>(), dimensions),
            BuiltInType.Byte => TagValue.FromArray(value.GetArray<byte>(), dimensions),
            BuiltInType.Int16 => TagValue.FromArray(value.GetArray<short>(), dimensions),
            BuiltInType.UInt16 => TagValue.FromArray(value.GetArray<ushort>(), dimensions),
            BuiltInType.Int32 => TagValue.FromArray(value.GetArray<int>(), dimensions),
            BuiltInType.UInt32 => TagValue.FromArray(value.GetArray<uint>(), dimensions),
            BuiltInType.Int64 => TagValue.FromArray(value.GetArray<long>(), dimensions),
            BuiltInType.UInt64 => TagValue.FromArray(value.GetArray<ulong>(), dimensions),
            BuiltInType.Float => TagValue.FromArray(value.GetArray<float>(), dimensions),
            BuiltInType.Double => TagValue.FromArray(value.GetArray<double>(), dimensions),
            BuiltInType.String => TagValue.FromArray(value.GetArray<string>(), dimensions),
            BuiltInType.DateTime => TagValue.FromArray(value.GetArray<DateTime>(), dimensions),
            BuiltInType.StatusCode => TagValue.FromArray(
                Map(value.GetArray<StatusCode>(), static status => new TagStatus(status.Value)), dimensions),
            BuiltInType.ByteString => TagValue.FromArray(Map(value.GetArray<ByteString>(), static bytes => bytes.ToArray()!), dimensions),
            BuiltInType.Guid => Bytes(value.GetArray<Guid>()),
            BuiltInType.XmlElement => Bytes(value.GetArray<XmlElement>()),
            BuiltInType.NodeId => Bytes(value.GetArray<NodeId>()),
            BuiltInType.ExpandedNodeId => Bytes(value.GetArray<ExpandedNodeId>()),
            BuiltInType.QualifiedName => Bytes(value.GetArray<QualifiedName>()),
            BuiltInType.LocalizedText => Bytes(value.GetArray<LocalizedText>()),
            BuiltInType.ExtensionObject => Bytes(value.GetArray<ExtensionObject>()),
            BuiltInType.DataValue => Bytes(value.GetArray<DataValue>()),
            BuiltInType.Variant => Whole(value.GetArray<Variant>()),
            BuiltInType.DiagnosticInfo => Bytes(value.GetArray<DiagnosticInfo>()),
            _ => default,
        };

        TagValue Bytes<T>(T[]? elements) => TagValue.FromElements(
            (TagType)Variant.FromArray<T>(null).Type, Map(elements, static one => Binary(Variant.From(one))!), dimensions);

        TagValue Whole(Variant[]? elements) => TagValue.FromElements(TagType.Variant, Map(elements, WholeBinary), dimensions);
    }

    // A variant in an array keeps the byte of its type.
    private static byte[] WholeBinary(Variant value)
    {
        var writer = new ArrayBufferWriter<byte>();
        value.WriteBinary(writer);
        return writer.WrittenSpan.ToArray();
    }

    private static bool TryToArray(in TagValue value, out Variant variant)
    {
        int[] dimensions = value.Dimensions.ToArray();
        bool isGood = true;
        variant = value.Type switch
        {
            TagType.Boolean => Of(value.GetArray<bool>()),
            TagType.SByte => Of(value.GetArray<sbyte>()),
            TagType.Byte => Of(value.GetArray<byte>()),
            TagType.Int16 => Of(value.GetArray<short>()),
            TagType.UInt16 => Of(value.GetArray<ushort>()),
            TagType.Int32 => Of(value.GetArray<int>()),
            TagType.UInt32 => Of(value.GetArray<uint>()),
            TagType.Int64 => Of(value.GetArray<long>()),
            TagType.UInt64 => Of(value.GetArray<ulong>()),
            TagType.Float => Of(value.GetArray<float>()),
            TagType.Double => Of(value.GetArray<double>()),
            TagType.String => Of(value.GetArray<string>()),
            TagType.DateTime => Of(value.GetArray<DateTime>()),
            TagType.StatusCode => Of(Map(value.GetArray<TagStatus>(), static status => new StatusCode(status.Code))),
            TagType.ByteString => Of(Map(value.GetArray<byte[]>(), static bytes => new ByteString(bytes))),
            TagType.XmlElement => Of(Map(value.GetArray<string>(), static xml => new XmlElement(xml))),
            TagType.Guid => Read<Guid>(value),
            TagType.NodeId => Read<NodeId>(value),
            TagType.ExpandedNodeId => Read<ExpandedNodeId>(value),
            TagType.QualifiedName => Read<QualifiedName>(value),
            TagType.LocalizedText => Read<LocalizedText>(value),
            TagType.ExtensionObject => Read<ExtensionObject>(value),
            TagType.DataValue => Read<DataValue>(value),
            TagType.Variant => Of(Map(value.GetArray<byte[]>(), ReadWhole)),
            TagType.DiagnosticInfo => Read<DiagnosticInfo>(value),
            _ => Variant.Null,
        };
        return isGood && !variant.IsNull;

        // The number of elements is the product of the dimensions.
        Variant Of<T>(T[]? elements) =>
            dimensions.Length == 0 ? Variant.FromArray(elements) : Variant.FromMatrix(elements ?? [], dimensions);

        Variant Read<T>(TagValue array) => Of(Map(array.GetArray<byte[]>(), bytes =>
        {
            isGood &= TryRead(array.Type, bytes, out Variant read);
            return isGood ? read.Get<T>() : default!;
        }));

        Variant ReadWhole(byte[] bytes)
        {
            Variant read = default;
            isGood &= bytes is not null && Variant.TryReadBinary(bytes, out read);
            return read;
        }
    }

    private static TTo[]? Map<TFrom, TTo>(TFrom[]? elements, Converter<TFrom, TTo> map) =>
        elements is null ? null : Array.ConvertAll(elements, map);
}
