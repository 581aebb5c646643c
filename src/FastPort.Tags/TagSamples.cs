using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace FastPort.Tags;

/// <summary>
/// Samples of many tags, as columns: numbers are stored in arrays of their type, strings in one array of UTF-8 bytes, and none of them is a
/// separate object. Row i belongs to tag i of the request. Reuse an instance to read without allocations. Not safe for use by several
/// threads at a time.
/// </summary>
public sealed partial class TagSamples
{
    // One entry a row. The place is an index into the column of the row's type, or of an array into the lengths.
    private Column<byte> _types;
    private Column<int> _places;
    private Column<uint> _statuses;
    private Column<long> _sourceTimes;
    private Column<long> _serverTimes;

    private Column<byte> _bools;
    private Column<uint> _ints;
    private Column<uint> _uints;
    private Column<ulong> _longs;
    private Column<ulong> _ulongs;
    private Column<uint> _floats;
    private Column<ulong> _doubles;

    // Of values in data: size, -1 for null, and the end of their bytes.
    private Column<int> _sizes;
    private Column<int> _ends;
    private Column<byte> _data;

    // Of arrays: number of elements, -1 for null, the place of the first in its column, and the place of the dimensions, -1 for none.
    private Column<int> _lengths;
    private Column<int> _starts;
    private Column<int> _dimensionStarts;
    private Column<int> _dimensions;

    /// <summary>Number of rows.</summary>
    public int Count => _types.Count;

    /// <summary>The sample of a row. Allocates an object for a string, bytes or an array.</summary>
    /// <param name="row">The row, from 0.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such row.</exception>
    public TagSample this[int row] => new(GetValue(row), GetStatus(row), GetSourceTime(row), GetServerTime(row));

    /// <summary>The type of a row's value, or of its elements.</summary>
    /// <param name="row">The row, from 0.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such row.</exception>
    public TagType GetTagType(int row) => (TagType)(EncodingOf(row) & TagTypes.TypeBits);

    /// <summary>Whether a row's value is an array.</summary>
    /// <param name="row">The row, from 0.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such row.</exception>
    public bool IsArray(int row) => (EncodingOf(row) & TagTypes.ArrayBit) != 0;

    /// <summary>The status of a row.</summary>
    /// <param name="row">The row, from 0.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such row.</exception>
    public TagStatus GetStatus(int row)
    {
        CheckRow(row);
        return new TagStatus(_statuses[row]);
    }

    /// <summary>When the source had the value of a row, UTC; default if unknown.</summary>
    /// <param name="row">The row, from 0.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such row.</exception>
    public DateTime GetSourceTime(int row)
    {
        CheckRow(row);
        return TagTime.FromWire(_sourceTimes[row]);
    }

    /// <summary>When the server last confirmed the value of a row, UTC; default if unknown.</summary>
    /// <param name="row">The row, from 0.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such row.</exception>
    public DateTime GetServerTime(int row)
    {
        CheckRow(row);
        return TagTime.FromWire(_serverTimes[row]);
    }

    /// <summary>The value of a row. Allocates an object for a string, bytes or an array.</summary>
    /// <param name="row">The row, from 0.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such row.</exception>
    public TagValue GetValue(int row)
    {
        byte encoding = EncodingOf(row);
        var type = (TagType)(encoding & TagTypes.TypeBits);
        if ((encoding & TagTypes.ArrayBit) != 0)
        {
            return ArrayAt(_places[row], type);
        }

        int place = _places[row];
        return ColumnOf(type) == TagColumn.Data
            ? new TagValue(type, isArray: false, DataAt(type, place))
            : new TagValue(type, BitsAt(type, place));
    }

    /// <summary>The scalar value of a row, if it has this type. Numbers are read without an allocation.</summary>
    /// <typeparam name="T">A .NET type that <see cref="TagType"/> names.</typeparam>
    /// <param name="row">The row, from 0.</param>
    /// <param name="value">The value, on success.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such row.</exception>
    public bool TryGet<T>(int row, out T value)
    {
        TagType type = TagTypes.Of<T>();
        if (type is TagType.String or TagType.ByteString)
        {
            return GetValue(row).TryGet(out value);
        }

        if (EncodingOf(row) != (byte)type)
        {
            value = default!;
            return false;
        }

        return new TagValue(type, BitsAt(type, _places[row])).TryGet(out value);
    }

    /// <summary>
    /// The bytes, in place, of a row's scalar value that is a string (UTF-8), a byte string or of another type held as bytes; empty for a
    /// null value. Valid until the samples change.
    /// </summary>
    /// <param name="row">The row, from 0.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such row.</exception>
    /// <exception cref="InvalidCastException">The value is not held as bytes, or is an array.</exception>
    public ReadOnlySpan<byte> GetBytes(int row)
    {
        byte encoding = EncodingOf(row);
        return ColumnOf((TagType)encoding) == TagColumn.Data
            ? BytesAt(_places[row])
            : throw new InvalidCastException(
                $"Row {row} has type {GetTagType(row)}{(IsArray(row) ? "[]" : "")}, which is not held as bytes.");
    }

    /// <summary>Removes all rows; the memory is kept for the next rows.</summary>
    public void Clear()
    {
        _types.Clear();
        _places.Clear();
        _statuses.Clear();
        _sourceTimes.Clear();
        _serverTimes.Clear();
        _bools.Clear();
        _ints.Clear();
        _uints.Clear();
        _longs.Clear();
        _ulongs.Clear();
        _floats.Clear();
        _doubles.Clear();
        _sizes.Clear();
        _ends.Clear();
        _data.Clear();
        _lengths.Clear();
        _starts.Clear();
        _dimensionStarts.Clear();
        _dimensions.Clear();
    }

    /// <summary>
    /// Samples without rows: these, whose memory is kept for the next ones, or new ones if the rows were larger than the limit.
    /// </summary>
    /// <param name="maxKept">Maximum bytes of a message whose memory is kept.</param>
    internal TagSamples Cleared(int maxKept)
    {
        if (MaxSize > maxKept)
        {
            return new TagSamples();
        }

        Clear();
        return this;
    }

    /// <summary>A row as it lies in the columns. False if its value is not a number: the bits are then 0.</summary>
    internal bool TryGetRaw(int row, out RawSample sample)
    {
        byte encoding = EncodingOf(row);
        bool isNumber = (encoding & TagTypes.ArrayBit) == 0 && TagTypes.ColumnOf((TagType)encoding) != TagColumn.Data;
        ulong bits = isNumber ? BitsAt((TagType)encoding, _places[row]) : 0;
        sample = new RawSample(encoding, bits, _statuses[row], _sourceTimes[row], _serverTimes[row]);
        return isNumber;
    }

    // Null for an array, whose elements are elsewhere.
    private static TagColumn? ColumnOf(TagType type) => TagTypes.ColumnOf(type);

    /// <summary>The type byte of a row (OPC 10000-6, 5.2.2.16).</summary>
    internal byte EncodingOf(int row)
    {
        CheckRow(row);
        return _types[row];
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckRow(int row)
    {
        if ((uint)row >= (uint)_types.Count)
        {
            ThrowNoRow(row);
        }
    }

    private void ThrowNoRow(int row) =>
        throw new ArgumentOutOfRangeException(nameof(row), row, $"There are {Count} samples; give a row from 0 to {Count - 1}.");

    private ulong BitsAt(TagType type, int place) => TagTypes.ColumnOf(type) switch
    {
        TagColumn.Bools => _bools[place],
        TagColumn.Ints => (ulong)(int)_ints[place],
        TagColumn.UInts => _uints[place],
        TagColumn.Longs => _longs[place],
        TagColumn.ULongs => _ulongs[place],
        TagColumn.Floats => _floats[place],
        TagColumn.Doubles => _doubles[place],
        TagColumn.None => 0,
        _ => throw new UnreachableException(),
    };

    private ReadOnlySpan<byte> BytesAt(int place)
    {
        int size = Math.Max(_sizes[place], 0);
        return _data.Items.Slice(_ends[place] - size, size);
    }

    private object? DataAt(TagType type, int place) =>
        _sizes[place] < 0 ? null
        : TagTypes.IsText(type) ? System.Text.Encoding.UTF8.GetString(BytesAt(place))
        : BytesAt(place).ToArray();
}
