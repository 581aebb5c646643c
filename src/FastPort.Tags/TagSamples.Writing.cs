using FastPort.Tags.Wire;

namespace FastPort.Tags;

/// <content>The message of tags.proto, from the columns.</content>
public sealed partial class TagSamples
{
    // Tags and lengths of all fields.
    private const int FieldsSize = 16 * (2 + 5);

    /// <summary>Bytes of the message.</summary>
    internal int Size =>
        WireWriter.NumberSize(SamplesField.Count, (uint)Count)
        + WireWriter.BytesSize(SamplesField.Types, Needed(_types.Items))
        + WireWriter.BytesSize(SamplesField.Statuses, Needed(_statuses.Items) * sizeof(uint))
        + WireWriter.BytesSize(SamplesField.SourceTimes, Needed(_sourceTimes.Items) * sizeof(long))
        + WireWriter.BytesSize(SamplesField.ServerTimes, Needed(_serverTimes.Items) * sizeof(long))
        + WireWriter.BytesSize(SamplesField.Bools, _bools.Count)
        + WireWriter.BytesSize(SamplesField.Ints, _ints.Count * sizeof(uint))
        + WireWriter.BytesSize(SamplesField.UInts, _uints.Count * sizeof(uint))
        + WireWriter.BytesSize(SamplesField.Longs, _longs.Count * sizeof(ulong))
        + WireWriter.BytesSize(SamplesField.ULongs, _ulongs.Count * sizeof(ulong))
        + WireWriter.BytesSize(SamplesField.Floats, _floats.Count * sizeof(uint))
        + WireWriter.BytesSize(SamplesField.Doubles, _doubles.Count * sizeof(ulong))
        + WireWriter.BytesSize(SamplesField.Sizes, _sizes.Count * sizeof(int))
        + WireWriter.BytesSize(SamplesField.Data, _data.Count)
        + WireWriter.BytesSize(SamplesField.Lengths, _lengths.Count * sizeof(int))
        + WireWriter.BytesSize(SamplesField.Dimensions, _dimensions.Count * sizeof(int));

    /// <summary>At least as many bytes as <see cref="Size"/>, known without examining the rows.</summary>
    internal int MaxSize => FieldsSize + (Count * (sizeof(byte) + sizeof(uint) + sizeof(long) + sizeof(long))) + ValuesSize;

    /// <summary>At most as many bytes as <see cref="Size"/>: those of the values alone.</summary>
    internal int ValuesSize =>
        _bools.Count + _data.Count
        + ((_ints.Count + _uints.Count + _floats.Count + _sizes.Count + _lengths.Count + _dimensions.Count) * sizeof(uint))
        + ((_longs.Count + _ulongs.Count + _doubles.Count) * sizeof(ulong));

    /// <summary>Writes the message.</summary>
    internal void Write(Span<byte> destination)
    {
        var writer = new WireWriter(destination);
        writer.Number(SamplesField.Count, (uint)Count);
        writer.Fixed(SamplesField.Types, _types.Items[..Needed(_types.Items)]);
        writer.Fixed(SamplesField.Statuses, _statuses.Items[..Needed(_statuses.Items)]);
        writer.Fixed(SamplesField.SourceTimes, _sourceTimes.Items[..Needed(_sourceTimes.Items)]);
        writer.Fixed(SamplesField.ServerTimes, _serverTimes.Items[..Needed(_serverTimes.Items)]);
        writer.Fixed(SamplesField.Bools, _bools.Items);
        writer.Fixed(SamplesField.Ints, _ints.Items);
        writer.Fixed(SamplesField.UInts, _uints.Items);
        writer.Fixed(SamplesField.Longs, _longs.Items);
        writer.Fixed(SamplesField.ULongs, _ulongs.Items);
        writer.Fixed(SamplesField.Floats, _floats.Items);
        writer.Fixed(SamplesField.Doubles, _doubles.Items);
        writer.Fixed(SamplesField.Sizes, _sizes.Items);
        writer.Fixed(SamplesField.Data, _data.Items);
        writer.Fixed(SamplesField.Lengths, _lengths.Items);
        writer.Fixed(SamplesField.Dimensions, _dimensions.Items);
    }

    /// <summary>The message in a separate array.</summary>
    internal byte[] ToBytes()
    {
        var bytes = new byte[Size];
        Write(bytes);
        return bytes;
    }

    // Number of entries that a column needs: none if all are 0, one if all are the same.
    private static int Needed<T>(ReadOnlySpan<T> column)
        where T : unmanaged, IEquatable<T>
    {
        if (column.IsEmpty)
        {
            return 0;
        }

        T first = column[0];
        return column.IndexOfAnyExcept(first) >= 0 ? column.Length : first.Equals(default) ? 0 : 1;
    }
}
