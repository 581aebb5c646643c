using System.Diagnostics;
using System.Text;

namespace FastPort.Tags;

/// <content>Adding rows.</content>
public sealed partial class TagSamples
{
    /// <summary>Adds a row.</summary>
    /// <param name="sample">The sample; texts and arrays are copied.</param>
    public void Add(in TagSample sample) => Add(sample.Value, sample.Status, sample.SourceTime, sample.ServerTime);

    /// <summary>Adds a row.</summary>
    /// <param name="value">The value; texts and arrays are copied.</param>
    /// <param name="status">The status. Defaults to good.</param>
    /// <param name="sourceTime">When the source had the value; default if unknown. Defaults to unknown.</param>
    /// <param name="serverTime">When the server last confirmed the value; default if unknown. Defaults to unknown.</param>
    public void Add(in TagValue value, TagStatus status = default, DateTime sourceTime = default, DateTime serverTime = default)
    {
        BeginRow(value.Encoding, status.Code, TagTime.ToWire(sourceTime), TagTime.ToWire(serverTime));
        if (value.IsArray)
        {
            AddArray(value);
            return;
        }

        switch (value.Reference)
        {
            case string text:
                AddText(text);
                break;
            case byte[] bytes:
                AddBytes(bytes);
                break;
            default:
                AddBits(value.Type, value.Bits);
                break;
        }
    }

    /// <summary>Adds a row of other samples, without an object for its value unless that is an array.</summary>
    /// <param name="other">The other samples.</param>
    /// <param name="row">The row, from 0.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such row.</exception>
    public void Add(TagSamples other, int row)
    {
        ArgumentNullException.ThrowIfNull(other);
        Add(other, row, other.GetStatus(row));
    }

    /// <summary>Adds a row with a number.</summary>
    internal void Add(in RawSample sample)
    {
        BeginRow(sample.Encoding, sample.Status, sample.SourceTime, sample.ServerTime);
        AddBits((TagType)sample.Encoding, sample.Bits);
    }

    /// <summary>Replaces the status of a row.</summary>
    internal void SetStatus(int row, TagStatus status) => _statuses.Set(row, status.Code);

    /// <summary>As <see cref="Add(TagSamples, int)"/>, with another status.</summary>
    internal void Add(TagSamples other, int row, TagStatus status)
    {
        byte encoding = other.EncodingOf(row);
        if ((encoding & TagTypes.ArrayBit) != 0)
        {
            Add(other[row] with { Status = status });
            return;
        }

        BeginRow(encoding, status.Code, other._sourceTimes[row], other._serverTimes[row]);
        var type = (TagType)encoding;
        int place = other._places[row];
        if (TagTypes.ColumnOf(type) != TagColumn.Data)
        {
            AddBits(type, other.BitsAt(type, place));
        }
        else if (other._sizes[place] < 0)
        {
            AddBytes(null);
        }
        else
        {
            AddBytes(other.BytesAt(place));
        }
    }

    private void BeginRow(byte encoding, uint status, long sourceTime, long serverTime)
    {
        var type = (TagType)(encoding & TagTypes.TypeBits);
        _types.Add(encoding);
        _places.Add((encoding & TagTypes.ArrayBit) != 0 ? _lengths.Count : ColumnCount(type));
        _statuses.Add(status);
        _sourceTimes.Add(sourceTime);
        _serverTimes.Add(serverTime);
    }

    private void AddBits(TagType type, ulong bits)
    {
        switch (TagTypes.ColumnOf(type))
        {
            case TagColumn.None:
                break;
            case TagColumn.Bools:
                _bools.Add((byte)bits);
                break;
            case TagColumn.Ints:
                _ints.Add((uint)bits);
                break;
            case TagColumn.UInts:
                _uints.Add((uint)bits);
                break;
            case TagColumn.Longs:
                _longs.Add(bits);
                break;
            case TagColumn.ULongs:
                _ulongs.Add(bits);
                break;
            case TagColumn.Floats:
                _floats.Add((uint)bits);
                break;
            case TagColumn.Doubles:
                _doubles.Add(bits);
                break;
            case TagColumn.Data:
                AddBytes(null);
                break;
            default:
                throw new UnreachableException();
        }
    }

    private void AddText(string? text)
    {
        if (text is null)
        {
            AddBytes(null);
            return;
        }

        int size = Encoding.UTF8.GetByteCount(text);
        Encoding.UTF8.GetBytes(text, _data.Append(size));
        _sizes.Add(size);
        _ends.Add(_data.Count);
    }

    private void AddBytes(byte[]? bytes)
    {
        if (bytes is null)
        {
            _sizes.Add(-1);
            _ends.Add(_data.Count);
            return;
        }

        AddBytes(bytes.AsSpan());
    }

    private void AddBytes(ReadOnlySpan<byte> bytes)
    {
        _data.Append(bytes);
        _sizes.Add(bytes.Length);
        _ends.Add(_data.Count);
    }
}
