namespace FastPort.Tags.OpcFoundation;

/// <summary>Values of the stack as those of FastPort, and back. Common scalars directly, others by way of OPC UA Binary.</summary>
internal static class FoundationValues
{
    public static Own.DataValue ToOwn(this in DataValue value, IServiceMessageContext context) => new(
        value.WrappedValue.ToOwn(context),
        new Own.StatusCode(value.StatusCode.Code),
        value.SourceTimestamp == 0 ? default : value.SourceTimestamp.ToDateTime(),
        value.ServerTimestamp == 0 ? default : value.ServerTimestamp.ToDateTime());

    public static Own.Variant ToOwn(this in Variant value, IServiceMessageContext context)
    {
        switch (value.TypeInfo.IsScalar ? value.TypeInfo.BuiltInType : BuiltInType.Variant)
        {
            case BuiltInType.Boolean: return value.GetBoolean();
            case BuiltInType.Int32: return value.GetInt32();
            case BuiltInType.Float: return value.GetFloat();
            case BuiltInType.Double: return value.GetDouble();
            case BuiltInType.String: return Own.Variant.From<string?>(value.GetString());
        }

        using var encoder = new BinaryEncoder(context);
        encoder.WriteVariant(null, value);
        return Own.Variant.TryReadBinary(encoder.CloseAndReturnBuffer(), out Own.Variant own) ? own : default;
    }

    public static Variant ToFoundation(this in Own.Variant own, IServiceMessageContext context)
    {
        var bytes = new System.Buffers.ArrayBufferWriter<byte>();
        own.WriteBinary(bytes);
        using var decoder = new BinaryDecoder(bytes.WrittenSpan.ToArray(), context);
        return decoder.ReadVariant(null);
    }
}
