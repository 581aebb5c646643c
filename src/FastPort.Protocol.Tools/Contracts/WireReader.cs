using System.Text;

namespace FastPort.Protocol.Tools.Contracts;

/// <summary>Reads the fields of an encoded Protocol Buffers message one after the other.</summary>
internal sealed class WireReader(byte[] bytes, int start, int end)
{
    private int _position = start;
    private int _contents;
    private int _length;

    public WireReader(byte[] bytes)
        : this(bytes, 0, bytes.Length)
    {
    }

    /// <summary>The current field's number.</summary>
    public int Field { get; private set; }

    /// <summary>The current field's value, of a varint.</summary>
    public ulong Number { get; private set; }

    /// <summary>The current field's value, of a string.</summary>
    public string Text => Encoding.UTF8.GetString(bytes, _contents, _length);

    /// <summary>The current field's value, of a message.</summary>
    public WireReader Message => new(bytes, _contents, _contents + _length);

    /// <summary>The current field's values, of a packed list of varints.</summary>
    public List<int> Numbers
    {
        get
        {
            WireReader list = Message;
            var numbers = new List<int>();
            while (list._position < _contents + _length)
            {
                numbers.Add((int)list.ReadVarint());
            }

            return numbers;
        }
    }

    /// <summary>Goes to the next field; false at the end.</summary>
    /// <exception cref="InvalidDataException">These are no fields.</exception>
    public bool Next()
    {
        if (_position >= end)
        {
            return false;
        }

        ulong tag = ReadVarint();
        Field = (int)(tag >> 3);
        switch (tag & 7)
        {
            case 0:
                Number = ReadVarint();
                break;
            case 1:
                Skip(8);
                break;
            case 2:
                _length = (int)ReadVarint();
                _contents = _position;
                Skip(_length);
                break;
            case 5:
                Skip(4);
                break;
            default:
                throw new InvalidDataException($"There is no field of kind {tag & 7}.");
        }

        return true;
    }

    private void Skip(int length)
    {
        if (length < 0 || length > end - _position)
        {
            throw new InvalidDataException("A field ends behind its message.");
        }

        _position += length;
    }

    private ulong ReadVarint()
    {
        ulong value = 0;
        for (int shift = 0; shift < 64; shift += 7)
        {
            int at = _position;
            Skip(1);
            value |= (ulong)(bytes[at] & 0x7F) << shift;
            if (bytes[at] < 0x80)
            {
                return value;
            }
        }

        throw new InvalidDataException("A number has more than 64 bits.");
    }
}
