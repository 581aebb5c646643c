using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.OpcUa.Encoding;

/// <content>Data values and the operands of Read and Write, of which a bulk request has thousands.</content>
internal ref partial struct BinaryDecoder
{
    private const int MaxPicoseconds = 9999;

    public DataValue ReadDataValue()
    {
        ReadDataValue(out DataValue value);
        return value;
    }

    /// <summary>Reads a value; the default value after a fault.</summary>
    public void ReadDataValue(out DataValue value)
    {
        // Value, status and times, in any combination, without picoseconds; with enough bytes left for the longest such number.
        ref byte start = ref MemoryMarshal.GetReference(_rest);
        if (_rest.Length >= FixedSizes.MaxDataValueBytes
            && start is byte mask and <= 0xF
            && (mask & 1) != 0
            && FixedSizes.Of((BuiltInType)Unsafe.Add(ref start, 1)) is var size and not 0)
        {
            ReadNumber(out value, mask, size);
            return;
        }

        ReadAnyDataValue(out value);
    }

    public bool Values(Span<DataValue> values)
    {
        int invalid = InvalidValues;
        foreach (ref DataValue value in values)
        {
            // A string that has not changed since the last time is not allocated again.
            _expected = value.Value.Text;
            ReadDataValue(out value);
            if (!_fault.IsGood)
            {
                break;
            }
        }

        _expected = null;
        return invalid == InvalidValues;
    }

    /// <summary>
    /// Reads node and attribute of an operand in the most common form: a numeric node id of four bytes, the attribute Value, no index
    /// range. In any other form, nothing is read.
    /// </summary>
    /// <param name="namespaceIndex">Namespace of the node.</param>
    /// <param name="number">Number of the node.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReadValueOperand(out byte namespaceIndex, out ushort number)
    {
        // 01, namespace, number; then 13 as UInt32; then -1, the length of the null range.
        const ulong KindAndAttribute = 0xFFFF_FFFF_0000_00FF;
        const ulong FourByteAndValue = 0x0000_000D_0000_0001;
        const int Bytes = sizeof(ulong) + sizeof(int);
        ref byte start = ref MemoryMarshal.GetReference(_rest);
        if (_rest.Length < Bytes
            || Unsafe.ReadUnaligned<ulong>(ref start) is var head && (head & KindAndAttribute) != FourByteAndValue
            || Unsafe.ReadUnaligned<int>(ref Unsafe.Add(ref start, sizeof(ulong))) != -1)
        {
            (namespaceIndex, number) = (0, 0);
            return false;
        }

        (namespaceIndex, number) = ((byte)(head >> 8), (ushort)(head >> 16));
        _rest = _rest[Bytes..];
        return true;
    }

    /// <summary>As <see cref="TryReadValueOperand"/>, with the default data encoding after it: a whole ReadValueId.</summary>
    /// <param name="namespaceIndex">Namespace of the node.</param>
    /// <param name="number">Number of the node.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReadValueId(out byte namespaceIndex, out ushort number)
    {
        // A name of namespace 0 that is null.
        const int NameAt = sizeof(ulong) + sizeof(int);
        const int NameBytes = sizeof(ushort) + sizeof(int);
        (namespaceIndex, number) = (0, 0);
        ref byte start = ref MemoryMarshal.GetReference(_rest);
        if (_rest.Length < NameAt + NameBytes
            || Unsafe.ReadUnaligned<ushort>(ref Unsafe.Add(ref start, NameAt)) != 0
            || Unsafe.ReadUnaligned<int>(ref Unsafe.Add(ref start, NameAt + sizeof(ushort))) != -1
            || !TryReadValueOperand(out namespaceIndex, out number))
        {
            return false;
        }

        _rest = _rest[NameBytes..];
        return true;
    }

    private void ReadNumber(out DataValue value, byte mask, int size)
    {
        ref byte start = ref MemoryMarshal.GetReference(_rest);
        var type = (BuiltInType)Unsafe.Add(ref start, 1);
        ulong bits = FixedSizes.Low(Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref start, 2)), size);
        int length = 2 + size;
        StatusCode status = default;
        DateTime sourceTime = default;
        DateTime serverTime = default;
        if ((mask & 2) != 0)
        {
            status = new StatusCode(Unsafe.ReadUnaligned<uint>(ref Unsafe.Add(ref start, length)));
            length += sizeof(uint);
        }

        if ((mask & 4) != 0)
        {
            sourceTime = UaTime.FromWire(Unsafe.ReadUnaligned<long>(ref Unsafe.Add(ref start, length)));
            length += sizeof(long);
        }

        if ((mask & 8) != 0)
        {
            serverTime = UaTime.FromWire(Unsafe.ReadUnaligned<long>(ref Unsafe.Add(ref start, length)));
            length += sizeof(long);
        }

        _rest = _rest[length..];
        value = new DataValue(Variant.Scalar(type, bits), status, sourceTime, serverTime);
    }

    private void ReadAnyDataValue(out DataValue value)
    {
        byte mask = Read<byte>();
        Variant variant = default;
        bool isInvalid = false;
        if ((mask & 1) != 0)
        {
            bool hadInvalid = _hasInvalid;
            _hasInvalid = false;
            variant = ReadVariant();
            (isInvalid, _hasInvalid) = (_hasInvalid, hadInvalid);
        }

        StatusCode status = (mask & 2) != 0 ? ReadStatusCode() : default;
        DateTime sourceTime = (mask & 4) != 0 ? ReadDateTime() : default;
        ushort sourcePicoseconds = (mask & 0x10) != 0 ? Read<ushort>() : (ushort)0;
        DateTime serverTime = (mask & 8) != 0 ? ReadDateTime() : default;
        ushort serverPicoseconds = (mask & 0x20) != 0 ? Read<ushort>() : (ushort)0;
        if (isInvalid)
        {
            InvalidValues++;
            (variant, status) = (default, StatusCodes.BadDecodingError);
        }

        value = new DataValue(variant, status, sourceTime, serverTime)
        {
            SourcePicoseconds = Math.Min(sourcePicoseconds, (ushort)MaxPicoseconds),
            ServerPicoseconds = Math.Min(serverPicoseconds, (ushort)MaxPicoseconds),
        };
    }
}
