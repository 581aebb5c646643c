using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.OpcUa.Encoding;

/// <content>The fields of structures.</content>
internal ref partial struct BinaryEncoder
{
    public void Field(ref bool value) => WriteBoolean(value);

    public void Field(ref byte value) => Write(value);

    public void Field(ref ushort value) => Write(value);

    public void Field(ref int value) => Write(value);

    public void Field(ref uint value) => Write(value);

    public void Field(ref long value) => Write(value);

    public void Field(ref double value) => Write(value);

    public void Field(ref string? value) => WriteString(value);

    public void Field(ref DateTime value) => WriteDateTime(value);

    public void Field(ref Guid value) => Write(value);

    public void Field(ref ByteString value) => WriteByteString(value);

    public void Field(ref NodeId value) => WriteNodeId(value);

    public void Field(ref ExpandedNodeId value) => WriteExpandedNodeId(value);

    public void Field(ref StatusCode value) => Write(value.Value);

    public void Field(ref QualifiedName value) => WriteQualifiedName(value);

    public void Field(ref LocalizedText value) => WriteLocalizedText(value);

    public void Field(ref ExtensionObject? value) => WriteExtensionObject(value);

    public void Field(ref DataValue value) => WriteDataValue(value);

    public void Field(ref Variant value) => WriteVariant(value);

    public void Field(ref DiagnosticInfo? value) => WriteDiagnosticInfo(value);

    public void Enumeration<T>(ref T value)
        where T : unmanaged, Enum => Write(Unsafe.As<T, int>(ref value));

    public void Structure<T>(ref T value)
        where T : struct, IStructure => value.Code(ref this);

    public void Structures<T>(ref T[]? values)
        where T : struct, IStructure
    {
        Write(values?.Length ?? -1);
        for (int i = 0; i < values?.Length; i++)
        {
            values[i].Code(ref this);
        }
    }

    public bool Values(Span<DataValue> values)
    {
        foreach (ref readonly DataValue value in values)
        {
            WriteDataValue(value);
        }

        return true;
    }

    public void Values(Span<StatusCode> values) => WriteBytes(MemoryMarshal.AsBytes(values));

    public void Array<T>(ref T[]? values) => WriteArray(values);
}
