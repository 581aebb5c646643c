namespace FastPort.Tags.Wire;

/// <summary>
/// Reads the fields of a Protocol Buffers message that is in one piece. After an error nothing more is read, and the message is malformed.
/// </summary>
internal ref struct WireReader(ReadOnlySpan<byte> bytes)
{
    private ReadOnlySpan<byte> _rest = bytes;

    /// <summary>Whether something was wrong so far.</summary>
    public bool IsMalformed { get; private set; }

    /// <summary>Number of the field that was found.</summary>
    public int Field { get; private set; }

    /// <summary>How the field is encoded.</summary>
    public WireType Type { get; private set; }

    /// <summary>Finds the next field; false at the end.</summary>
    public bool Next()
    {
        if (_rest.IsEmpty || IsMalformed)
        {
            return false;
        }

        uint tag = (uint)ReadVarint();
        Field = (int)(tag >> 3);
        Type = (WireType)(tag & 7);
        IsMalformed |= Field == 0;
        return !IsMalformed;
    }

    /// <summary>The value of a field that is a varint; 0 if it is none.</summary>
    public ulong Varint()
    {
        if (Type != WireType.Varint)
        {
            Skip();
            IsMalformed = true;
            return 0;
        }

        return ReadVarint();
    }

    /// <summary>The bytes of a field with a length; empty if it has none.</summary>
    public ReadOnlySpan<byte> Bytes()
    {
        if (Type != WireType.Length)
        {
            IsMalformed = true;
            return default;
        }

        ulong length = ReadVarint();
        return length > (ulong)_rest.Length ? Fail() : Take((int)length);
    }

    /// <summary>The values of a repeated field of fixed width: packed, or one of them.</summary>
    /// <param name="width">Bytes of a value: 4 or 8.</param>
    public ReadOnlySpan<byte> Fixed(int width)
    {
        if (Type == WireType.Length)
        {
            ReadOnlySpan<byte> packed = Bytes();
            return packed.Length % width == 0 ? packed : Fail();
        }

        return Type == (width == sizeof(uint) ? WireType.Fixed32 : WireType.Fixed64) && _rest.Length >= width ? Take(width) : Fail();
    }

    /// <summary>Passes over a field that is not known.</summary>
    public void Skip()
    {
        switch (Type)
        {
            case WireType.Varint:
                ReadVarint();
                break;
            case WireType.Fixed64 when _rest.Length >= sizeof(ulong):
                Take(sizeof(ulong));
                break;
            case WireType.Fixed32 when _rest.Length >= sizeof(uint):
                Take(sizeof(uint));
                break;
            case WireType.Length:
                Bytes();
                break;
            default:
                Fail();
                break;
        }
    }

    private ulong ReadVarint()
    {
        ulong value = 0;
        for (int i = 0; i < 10 && i < _rest.Length; i++)
        {
            value |= (ulong)(_rest[i] & 0x7F) << (7 * i);
            if (_rest[i] < 0x80)
            {
                _rest = _rest[(i + 1)..];
                return value;
            }
        }

        Fail();
        return 0;
    }

    private ReadOnlySpan<byte> Take(int length)
    {
        ReadOnlySpan<byte> taken = _rest[..length];
        _rest = _rest[length..];
        return taken;
    }

    private ReadOnlySpan<byte> Fail()
    {
        IsMalformed = true;
        _rest = default;
        return default;
    }
}
