using System.Diagnostics;
using System.Runtime.InteropServices;

namespace FastPort.Tags;

/// <content>Values that are arrays.</content>
public sealed partial class TagSamples
{
    /// <summary>As <see cref="TagValue.DimensionCount"/>, of a row's value.</summary>
    internal int DimensionsOf(int row) =>
        !IsArray(row) ? 0
        : _lengths[_places[row]] <= 0 ? -1
        : _dimensionStarts[_places[row]] is >= 0 and int at ? _dimensions[at]
        : 1;

    private TagValue ArrayAt(int place, TagType type)
    {
        int length = _lengths[place];
        int[]? dimensions = null;
        if (_dimensionStarts[place] is >= 0 and int at)
        {
            dimensions = _dimensions.Items.Slice(at + 1, _dimensions[at]).ToArray();
        }

        return new TagValue(type, isArray: true, length < 0 ? null : ElementsAt(type, _starts[place], length), dimensions);
    }

    private Array ElementsAt(TagType type, int start, int length)
    {
        switch (type)
        {
            case TagType.Boolean:
                return MemoryMarshal.Cast<byte, bool>(_bools.Items.Slice(start, length)).ToArray();
            case TagType.SByte:
                return Array.ConvertAll(_ints.Items.Slice(start, length).ToArray(), static bits => (sbyte)bits);
            case TagType.Byte:
                return Array.ConvertAll(_uints.Items.Slice(start, length).ToArray(), static bits => (byte)bits);
            case TagType.Int16:
                return Array.ConvertAll(_ints.Items.Slice(start, length).ToArray(), static bits => (short)bits);
            case TagType.UInt16:
                return Array.ConvertAll(_uints.Items.Slice(start, length).ToArray(), static bits => (ushort)bits);
            case TagType.Int32:
                return MemoryMarshal.Cast<uint, int>(_ints.Items.Slice(start, length)).ToArray();
            case TagType.UInt32:
                return _uints.Items.Slice(start, length).ToArray();
            case TagType.Int64:
                return MemoryMarshal.Cast<ulong, long>(_longs.Items.Slice(start, length)).ToArray();
            case TagType.UInt64:
                return _ulongs.Items.Slice(start, length).ToArray();
            case TagType.Float:
                return MemoryMarshal.Cast<uint, float>(_floats.Items.Slice(start, length)).ToArray();
            case TagType.Double:
                return MemoryMarshal.Cast<ulong, double>(_doubles.Items.Slice(start, length)).ToArray();
            case TagType.DateTime:
                return Array.ConvertAll(_longs.Items.Slice(start, length).ToArray(), static bits => TagTime.FromWire((long)bits));
            case TagType.StatusCode:
                return Array.ConvertAll(_uints.Items.Slice(start, length).ToArray(), static bits => new TagStatus(bits));
            default:
                return DataElementsAt(type, start, length);
        }
    }

    private Array DataElementsAt(TagType type, int start, int length)
    {
        Array elements = TagTypes.IsText(type) ? new string?[length] : new byte[]?[length];
        for (int i = 0; i < length; i++)
        {
            elements.SetValue(DataAt(type, start + i), i);
        }

        return elements;
    }

    private void AddArray(in TagValue value)
    {
        _lengths.Add((value.Reference as Array)?.Length ?? -1);
        _starts.Add(ColumnCount(value.Type));
        _dimensionStarts.Add(value.Dimensions.Length == 0 ? -1 : _dimensions.Count);
        if (value.Dimensions.Length != 0)
        {
            _dimensions.Add(value.Dimensions.Length);
            _dimensions.Append(value.Dimensions);
        }

        AddElements(value.Reference);
    }

    private void AddElements(object? elements)
    {
        switch (elements)
        {
            case null:
                break;
            case bool[] bools:
                _bools.Append(MemoryMarshal.AsBytes<bool>(bools));
                break;
            case sbyte[] items when elements.GetType() == typeof(sbyte[]):
                Widen(items, ref _ints, static item => (uint)item);
                break;
            case byte[] items:
                Widen(items, ref _uints, static item => item);
                break;
            case short[] items when elements.GetType() == typeof(short[]):
                Widen(items, ref _ints, static item => (uint)item);
                break;
            case ushort[] items:
                Widen(items, ref _uints, static item => item);
                break;
            case int[] items when elements.GetType() == typeof(int[]):
                _ints.Append(MemoryMarshal.Cast<int, uint>(items));
                break;
            case uint[] items:
                _uints.Append(items);
                break;
            case long[] items when elements.GetType() == typeof(long[]):
                _longs.Append(MemoryMarshal.Cast<long, ulong>(items));
                break;
            case ulong[] items:
                _ulongs.Append(items);
                break;
            case float[] items:
                _floats.Append(MemoryMarshal.Cast<float, uint>(items));
                break;
            case double[] items:
                _doubles.Append(MemoryMarshal.Cast<double, ulong>(items));
                break;
            case DateTime[] items:
                Widen(items, ref _longs, static item => (ulong)TagTime.ToWire(item));
                break;
            case TagStatus[] items:
                Widen(items, ref _uints, static item => item.Code);
                break;
            case string?[] items:
                Array.ForEach(items, AddText);
                break;
            case byte[]?[] items:
                Array.ForEach(items, AddBytes);
                break;
            default:
                throw new UnreachableException();
        }
    }

    private static void Widen<TFrom, TTo>(TFrom[] items, ref Column<TTo> column, Func<TFrom, TTo> widen)
        where TTo : unmanaged
    {
        Span<TTo> room = column.Append(items.Length);
        for (int i = 0; i < items.Length; i++)
        {
            room[i] = widen(items[i]);
        }
    }

    private int ColumnCount(TagType type) => TagTypes.ColumnOf(type) switch
    {
        TagColumn.Bools => _bools.Count,
        TagColumn.Ints => _ints.Count,
        TagColumn.UInts => _uints.Count,
        TagColumn.Longs => _longs.Count,
        TagColumn.ULongs => _ulongs.Count,
        TagColumn.Floats => _floats.Count,
        TagColumn.Doubles => _doubles.Count,
        TagColumn.Data => _sizes.Count,
        _ => 0,
    };
}
