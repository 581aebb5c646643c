using System.Runtime.InteropServices;
using FastPort.Tags.Wire;

namespace FastPort.Tags;

/// <content>The message of tags.proto, to the columns.</content>
public sealed partial class TagSamples
{
    private const int ColumnKinds = (int)TagColumn.Data + 1;

    /// <summary>
    /// Replaces the rows by those of a message. False if it is malformed; there are no rows then. Memory is taken for the bytes of the
    /// message and for at most <paramref name="maxRows"/> rows.
    /// </summary>
    internal bool TryRead(ReadOnlySpan<byte> message, int maxRows)
    {
        Clear();
        uint rows = 0;
        var reader = new WireReader(message);
        while (reader.Next())
        {
            bool isGood = true;
            switch (reader.Field)
            {
                case SamplesField.Count:
                    rows = (uint)Math.Min(reader.Varint(), uint.MaxValue);
                    break;
                case SamplesField.Types:
                    _types.Append(reader.Bytes());
                    break;
                case SamplesField.Statuses:
                    isGood = _statuses.TryAppendLittleEndian(reader.Fixed(sizeof(uint)));
                    break;
                case SamplesField.SourceTimes:
                    isGood = _sourceTimes.TryAppendLittleEndian(reader.Fixed(sizeof(long)));
                    break;
                case SamplesField.ServerTimes:
                    isGood = _serverTimes.TryAppendLittleEndian(reader.Fixed(sizeof(long)));
                    break;
                case SamplesField.Bools:
                    isGood = ReadBools(ref reader);
                    break;
                case SamplesField.Ints:
                    isGood = _ints.TryAppendLittleEndian(reader.Fixed(sizeof(uint)));
                    break;
                case SamplesField.UInts:
                    isGood = _uints.TryAppendLittleEndian(reader.Fixed(sizeof(uint)));
                    break;
                case SamplesField.Longs:
                    isGood = _longs.TryAppendLittleEndian(reader.Fixed(sizeof(ulong)));
                    break;
                case SamplesField.ULongs:
                    isGood = _ulongs.TryAppendLittleEndian(reader.Fixed(sizeof(ulong)));
                    break;
                case SamplesField.Floats:
                    isGood = _floats.TryAppendLittleEndian(reader.Fixed(sizeof(uint)));
                    break;
                case SamplesField.Doubles:
                    isGood = _doubles.TryAppendLittleEndian(reader.Fixed(sizeof(ulong)));
                    break;
                case SamplesField.Sizes:
                    isGood = _sizes.TryAppendLittleEndian(reader.Fixed(sizeof(int)));
                    break;
                case SamplesField.Data:
                    _data.Append(reader.Bytes());
                    break;
                case SamplesField.Lengths:
                    isGood = _lengths.TryAppendLittleEndian(reader.Fixed(sizeof(int)));
                    break;
                case SamplesField.Dimensions:
                    isGood = _dimensions.TryAppendLittleEndian(reader.Fixed(sizeof(int)));
                    break;
                default:
                    reader.Skip();
                    break;
            }

            if (!isGood)
            {
                break;
            }
        }

        if (reader.IsMalformed || rows > (uint)maxRows || !Index((int)rows))
        {
            Clear();
            return false;
        }

        return true;
    }

    // Packed, or one at a time: a varint each.
    private bool ReadBools(ref WireReader reader)
    {
        if (reader.Type == WireType.Varint)
        {
            _bools.Add(reader.Varint() != 0 ? (byte)1 : (byte)0);
            return true;
        }

        foreach (byte value in reader.Bytes())
        {
            if (value > 1)
            {
                return false;
            }

            _bools.Add(value);
        }

        return true;
    }

    private static bool Spread<T>(ref Column<T> column, int rows)
        where T : unmanaged
    {
        if (column.Count == rows)
        {
            return true;
        }

        if (column.Count == 0)
        {
            column.Append(rows).Clear();
            return true;
        }

        if (column.Count != 1 || rows == 0)
        {
            return false;
        }

        column.Repeat(rows);
        return true;
    }

    // Finds the place of each row's value. All of every column must be some row's.
    private bool Index(int rows)
    {
        if (!Spread(ref _types, rows) || !Spread(ref _statuses, rows) || !Spread(ref _sourceTimes, rows)
            || !Spread(ref _serverTimes, rows) || !IndexData())
        {
            return false;
        }

        Span<int> used = stackalloc int[ColumnKinds];
        Span<int> there =
        [
            0, _bools.Count, _ints.Count, _uints.Count, _longs.Count, _ulongs.Count, _floats.Count, _doubles.Count, _sizes.Count,
        ];
        Span<int> places = _places.Append(rows);
        int dimensionsUsed = 0;
        for (int row = 0; row < rows; row++)
        {
            byte encoding = _types[row];
            var type = (TagType)(encoding & TagTypes.TypeBits);
            if (TagTypes.ColumnOf(type) is not { } column)
            {
                return false;
            }

            int first = used[(int)column];
            if ((encoding & (TagTypes.ArrayBit | TagTypes.DimensionsBit)) == 0)
            {
                // A row without a value takes from no column.
                places[row] = first;
                used[(int)column] += column == TagColumn.None ? 0 : 1;
            }
            else
            {
                places[row] = _starts.Count;
                if (!IndexArray(encoding, column, used, there, ref dimensionsUsed))
                {
                    return false;
                }
            }

            if (used[(int)column] > there[(int)column]
                || (type is >= TagType.SByte and <= TagType.UInt16 && !AreInRange(type, first, used[(int)column] - first)))
            {
                return false;
            }
        }

        return used.SequenceEqual(there) && _starts.Count == _lengths.Count && dimensionsUsed == _dimensions.Count;
    }

    // A number beyond the range of its type would be read as another number, with a good status.
    private bool AreInRange(TagType type, int first, int count)
    {
        ReadOnlySpan<uint> numbers = (type is TagType.SByte or TagType.Int16 ? _ints : _uints).Items.Slice(first, count);
        ReadOnlySpan<int> signed = MemoryMarshal.Cast<uint, int>(numbers);
        return type switch
        {
            TagType.SByte => !signed.ContainsAnyExceptInRange(sbyte.MinValue, sbyte.MaxValue),
            TagType.Int16 => !signed.ContainsAnyExceptInRange(short.MinValue, short.MaxValue),
            TagType.Byte => !numbers.ContainsAnyExceptInRange(byte.MinValue, byte.MaxValue),
            _ => !numbers.ContainsAnyExceptInRange(ushort.MinValue, ushort.MaxValue),
        };
    }

    private bool IndexData()
    {
        long end = 0;
        Span<int> ends = _ends.Append(_sizes.Count);
        for (int i = 0; i < ends.Length; i++)
        {
            int size = _sizes[i];
            end += Math.Max(size, 0);
            if (size < -1 || end > _data.Count)
            {
                return false;
            }

            ends[i] = (int)end;
        }

        return end == _data.Count;
    }

    private bool IndexArray(byte encoding, TagColumn column, Span<int> used, ReadOnlySpan<int> there, ref int dimensionsUsed)
    {
        int place = _starts.Count;
        if ((encoding & TagTypes.ArrayBit) == 0 || column == TagColumn.None || place >= _lengths.Count)
        {
            return false;
        }

        int length = _lengths[place];
        if (length < -1 || length > there[(int)column] - used[(int)column])
        {
            return false;
        }

        _starts.Add(used[(int)column]);
        used[(int)column] += Math.Max(length, 0);
        if ((encoding & TagTypes.DimensionsBit) == 0)
        {
            _dimensionStarts.Add(-1);
            return true;
        }

        int count = dimensionsUsed < _dimensions.Count ? _dimensions[dimensionsUsed] : 0;
        if (count < 2 || count > _dimensions.Count - dimensionsUsed - 1
            || !TagValue.Fits(length, _dimensions.Items.Slice(dimensionsUsed + 1, count)))
        {
            return false;
        }

        _dimensionStarts.Add(dimensionsUsed);
        dimensionsUsed += 1 + count;
        return true;
    }
}
