using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.OpcUa.Encoding;

/// <content>Data values, of which a bulk read has thousands.</content>
internal ref partial struct BinaryEncoder
{
    private const int ValueBit = 1;
    private const int StatusBit = 2;
    private const int SourceTimeBit = 4;
    private const int ServerTimeBit = 8;
    private const int SourcePicosecondsBit = 0x10;
    private const int ServerPicosecondsBit = 0x20;

    public void WriteDataValue(in DataValue value) => WriteDataValue(
        value, UaTime.ToWire(value.SourceTimestamp), UaTime.ToWire(value.ServerTimestamp), PicosecondsOf(value));

    /// <summary>Writes a value with or without its source's time, and with a server time other than its own.</summary>
    /// <param name="value">The value.</param>
    /// <param name="sourceTime">The source's time as on the wire; 0 for none, and no picoseconds.</param>
    /// <param name="serverTime">The server's time as on the wire, which has no picoseconds; 0 for none.</param>
    public void WriteDataValue(in DataValue value, long sourceTime, long serverTime) => WriteDataValue(
        value, sourceTime, serverTime, sourceTime == 0 ? 0 : PicosecondsOf(value) & SourcePicosecondsBit);

    private static int PicosecondsOf(in DataValue value) =>
        (value.SourcePicoseconds == 0 ? 0 : SourcePicosecondsBit) | (value.ServerPicoseconds == 0 ? 0 : ServerPicosecondsBit);

    private void WriteDataValue(in DataValue value, long sourceTime, long serverTime, int picoseconds)
    {
        int mask = (value.Value.IsNull ? 0 : ValueBit)
            | (value.Status.Value == 0 ? 0 : StatusBit)
            | (sourceTime == 0 ? 0 : SourceTimeBit)
            | (serverTime == 0 ? 0 : ServerTimeBit)
            | picoseconds;
        int size = value.Value.IsArray ? 0 : FixedSizes.Of(value.Value.Type);
        if (size != 0 && picoseconds == 0)
        {
            WriteNumber(value, mask, size, sourceTime, serverTime);
            return;
        }

        Write((byte)mask);
        if ((mask & ValueBit) != 0)
        {
            WriteVariant(value.Value);
        }

        if ((mask & StatusBit) != 0)
        {
            Write(value.Status.Value);
        }

        if ((mask & SourceTimeBit) != 0)
        {
            Write(sourceTime);
        }

        if ((mask & SourcePicosecondsBit) != 0)
        {
            Write(value.SourcePicoseconds);
        }

        if ((mask & ServerTimeBit) != 0)
        {
            Write(serverTime);
        }

        if ((mask & ServerPicosecondsBit) != 0)
        {
            Write(value.ServerPicoseconds);
        }
    }

    // With room for the longest value, one check is enough, and a value may be written with excess bytes, which the next value overwrites.
    private void WriteNumber(in DataValue value, int mask, int size, long sourceTime, long serverTime)
    {
        if (_free.Length < FixedSizes.MaxDataValueBytes)
        {
            Renew(FixedSizes.MaxDataValueBytes);
        }

        ref byte start = ref MemoryMarshal.GetReference(_free);
        start = (byte)mask;
        Unsafe.Add(ref start, 1) = (byte)value.Value.Type;
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref start, 2), value.Value.Bits);
        int length = 2 + size;
        if ((mask & StatusBit) != 0)
        {
            Unsafe.WriteUnaligned(ref Unsafe.Add(ref start, length), value.Status.Value);
            length += sizeof(uint);
        }

        if ((mask & SourceTimeBit) != 0)
        {
            Unsafe.WriteUnaligned(ref Unsafe.Add(ref start, length), sourceTime);
            length += sizeof(long);
        }

        if ((mask & ServerTimeBit) != 0)
        {
            Unsafe.WriteUnaligned(ref Unsafe.Add(ref start, length), serverTime);
            length += sizeof(long);
        }

        _free = _free[length..];
    }
}
