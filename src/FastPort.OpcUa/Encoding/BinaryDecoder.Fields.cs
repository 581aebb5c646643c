using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.OpcUa.Encoding;

/// <content>The fields of structures.</content>
internal ref partial struct BinaryDecoder
{
    public void Field(ref bool value) => value = ReadBoolean();

    public void Field(ref byte value) => value = Read<byte>();

    public void Field(ref ushort value) => value = Read<ushort>();

    public void Field(ref int value) => value = Read<int>();

    public void Field(ref uint value) => value = Read<uint>();

    public void Field(ref long value) => value = Read<long>();

    public void Field(ref double value) => value = Read<double>();

    public void Field(ref string? value) => value = ReadString();

    public void Field(ref DateTime value) => value = ReadDateTime();

    public void Field(ref Guid value) => value = ReadGuid();

    public void Field(ref ByteString value) => value = ReadByteString();

    public void Field(ref NodeId value) => value = ReadNodeId();

    public void Field(ref ExpandedNodeId value) => value = ReadExpandedNodeId();

    public void Field(ref StatusCode value) => value = ReadStatusCode();

    public void Field(ref QualifiedName value) => value = ReadQualifiedName();

    public void Field(ref LocalizedText value) => value = ReadLocalizedText();

    public void Field(ref ExtensionObject? value) => value = ReadExtensionObject();

    public void Field(ref DataValue value) => value = ReadDataValue();

    public void Field(ref Variant value) => value = ReadVariant();

    public void Field(ref DiagnosticInfo? value) => value = ReadDiagnosticInfo();

    public void Enumeration<T>(ref T value)
        where T : unmanaged, Enum
    {
        int number = Read<int>();
        value = Unsafe.SizeOf<T>() == sizeof(int)
            ? Unsafe.As<int, T>(ref number)
            : throw new NotSupportedException($"The enumeration {typeof(T)} is not an Int32.");
    }

    public void Structure<T>(ref T value)
        where T : struct, IStructure => value.Code(ref this);

    public void Structures<T>(ref T[]? values)
        where T : struct, IStructure
    {
        values = null;
        int length = ReadArrayLength(1);
        if (length < 0)
        {
            return;
        }

        // A structure uses more memory than its minimum bytes on the wire: the array grows with the actual elements.
        T[] elements = [];
        for (int i = 0; i < length; i++)
        {
            if (i == elements.Length && !TryGrow(ref elements, Math.Min(length, Math.Max(2 * i, 64))))
            {
                return;
            }

            elements[i].Code(ref this);
            if (!_fault.IsGood)
            {
                // Earlier ones are complete: these changes of a message are not lost.
                values = elements[..i];
                return;
            }
        }

        values = elements;
    }

    public void Values(Span<StatusCode> values)
    {
        Span<byte> bytes = MemoryMarshal.AsBytes(values);
        Take(bytes.Length).CopyTo(bytes);
    }

    public void Array<T>(ref T[]? values) => values = ReadArray<T>();
}
