using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.OpcUa.Encoding;

/// <summary>
/// Reads OPC UA Binary (OPC 10000-6, 5.2) from one message. Never throws on bad input: the first fault is kept in <see cref="Error"/>, and
/// everything read after it is the default value. A data value whose value can be read to its end, but is not valid, is not such a fault:
/// it has the status BadDecodingError. Lengths are checked against the bytes left and the limits before memory is allocated.
/// </summary>
internal ref partial struct BinaryDecoder : ICodec
{
    // Approximate memory of an extension object, a diagnostic info or a boxed value.
    private const int ObjectBytes = 80;

    // The memory of a string, a byte string or a boxed GUID without its content.
    private const int ContentOverheadBytes = 24;

    private readonly EncodingLimits _limits;

    // The array that byte strings are borrowed from; null if they are copied.
    private readonly byte[]? _lender;
    private readonly int _lenderEnd;
    private ReadOnlySpan<byte> _rest;
    private int _depth;

    // Of EncodingLimits.MemoryFor.
    private long _memoryLeft;

    // The text that is most likely next; null for none.
    private string? _expected;

    /// <summary>A decoder that copies byte strings.</summary>
    public BinaryDecoder(ReadOnlySpan<byte> message, EncodingLimits limits)
    {
        _rest = message;
        _limits = limits;
        _memoryLeft = limits.MemoryFor(message.Length);
    }

    /// <summary>A decoder whose byte strings refer to the message's array.</summary>
    public BinaryDecoder(ArraySegment<byte> message, EncodingLimits limits)
    {
        _rest = message;
        _limits = limits;
        _memoryLeft = limits.MemoryFor(message.Count);
        _lender = message.Array;
        _lenderEnd = message.Offset + message.Count;
    }

    // The first fault: nothing can be read after it.
    private StatusCode _fault;

    // A value was read to its end but is not valid. It is a fault unless it belongs to a data value, whose status then reports it.
    private bool _hasInvalid;

    /// <summary>The first fault: BadDecodingError or BadEncodingLimitsExceeded; Good for none.</summary>
    public readonly StatusCode Error => _fault.IsGood && _hasInvalid ? StatusCodes.BadDecodingError : _fault;

    /// <summary>
    /// Number of data values with the status BadDecodingError, because their values could be read to the end, but are not valid.
    /// </summary>
    public int InvalidValues { get; private set; }

    /// <summary>Bytes not read yet; 0 after a fault.</summary>
    public readonly int Left => _rest.Length;

    /// <summary>The bytes not read yet; empty after a fault.</summary>
    public readonly ReadOnlySpan<byte> Rest => _rest;

    /// <summary>Keeps a fault, unless there is an earlier one, and ends the reading.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Fail(StatusCode error)
    {
        _fault = _fault.IsGood ? error : _fault;
        _rest = default;
    }

    /// <summary>Skips bytes.</summary>
    public void Skip(int count) => Take(count);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public T Read<T>()
        where T : unmanaged
    {
        if (Unsafe.SizeOf<T>() > _rest.Length)
        {
            Fail(StatusCodes.BadDecodingError);
            return default;
        }

        T value = Unsafe.ReadUnaligned<T>(ref MemoryMarshal.GetReference(_rest));
        _rest = _rest[Unsafe.SizeOf<T>()..];
        return value;
    }

    public bool ReadBoolean() => Read<byte>() != 0;

    public string? ReadString()
    {
        int length = ReadLength(_limits.MaxStringBytes, 1);
        if (length < 0)
        {
            return null;
        }

        ReadOnlySpan<byte> text = Take(length);
        if (_expected is { } expected && System.Text.Ascii.Equals(text, expected))
        {
            return expected;
        }

        return text.IsEmpty ? string.Empty : TryTakeMemory(ContentOverheadBytes) ? System.Text.Encoding.UTF8.GetString(text) : null;
    }

    public ByteString ReadByteString()
    {
        int length = ReadLength(_limits.MaxByteStringBytes, 1);
        if (length < 0)
        {
            return default;
        }

        if (_lender is not null)
        {
            int offset = _lenderEnd - _rest.Length;
            Take(length);
            return new ByteString(_lender, offset, length);
        }

        return TakeCopy(length);
    }

    public DateTime ReadDateTime() => UaTime.FromWire(Read<long>());

    public Guid ReadGuid() => Read<Guid>();

    public NodeId ReadNodeId()
    {
        byte kind = Read<byte>();
        return ReadNodeId(kind);
    }

    public ExpandedNodeId ReadExpandedNodeId()
    {
        const byte HasUri = 0x80;
        const byte HasServer = 0x40;
        byte kind = Read<byte>();
        NodeId id = ReadNodeId((byte)(kind & ~(HasUri | HasServer)));
        string? uri = (kind & HasUri) != 0 ? ReadString() : null;
        uint server = (kind & HasServer) != 0 ? Read<uint>() : 0;
        return new ExpandedNodeId(id, uri, server);
    }

    public StatusCode ReadStatusCode() => new(Read<uint>());

    public QualifiedName ReadQualifiedName()
    {
        ushort index = Read<ushort>();
        return new QualifiedName(index, ReadString());
    }

    public LocalizedText ReadLocalizedText()
    {
        byte mask = Read<byte>();
        string? locale = (mask & 1) != 0 ? ReadString() : null;
        return new LocalizedText(locale, (mask & 2) != 0 ? ReadString() : null);
    }

    public ExtensionObject? ReadExtensionObject()
    {
        ExpandedNodeId id = ReadExpandedNodeId();
        var encoding = (ExtensionObjectEncoding)Read<byte>();
        if (encoding > ExtensionObjectEncoding.Xml)
        {
            Fail(StatusCodes.BadDecodingError);
        }

        ByteString body = encoding == ExtensionObjectEncoding.None ? default : ReadByteString();
        bool isNull = id.NodeId.IsNull && encoding == ExtensionObjectEncoding.None;
        return isNull || !TryTakeMemory(ObjectBytes) ? null : new ExtensionObject(id, encoding, body);
    }

    public DiagnosticInfo? ReadDiagnosticInfo()
    {
        byte mask = Read<byte>();
        if (mask == 0 || !TryTakeMemory(ObjectBytes) || !Enter(EncodingLimits.MaxDiagnosticDepth))
        {
            return null;
        }

        var info = new DiagnosticInfo
        {
            SymbolicId = (mask & 1) != 0 ? Read<int>() : null,
            NamespaceUri = (mask & 2) != 0 ? Read<int>() : null,
            Locale = (mask & 8) != 0 ? Read<int>() : null,
            LocalizedText = (mask & 4) != 0 ? Read<int>() : null,
            AdditionalInfo = (mask & 0x10) != 0 ? ReadString() : null,
            InnerStatusCode = (mask & 0x20) != 0 ? ReadStatusCode() : null,
            InnerDiagnosticInfo = (mask & 0x40) != 0 ? ReadDiagnosticInfo() : null,
        };
        _depth--;
        return info;
    }

    public T ReadStructure<T>()
        where T : struct, IStructure
    {
        T value = default;
        value.Code(ref this);
        return value;
    }

    /// <summary>Reads a length; -1 for null and after a fault. All negative lengths are null.</summary>
    /// <param name="limit">The largest length.</param>
    /// <param name="elementBytes">The fewest bytes of an element.</param>
    public int ReadLength(int limit, int elementBytes)
    {
        int length = Read<int>();
        if (!_fault.IsGood || length < 0)
        {
            return -1;
        }

        if ((long)length * elementBytes > _rest.Length)
        {
            Fail(StatusCodes.BadDecodingError);
            return -1;
        }

        if (length > limit)
        {
            Fail(StatusCodes.BadEncodingLimitsExceeded);
            return -1;
        }

        return length;
    }

    /// <summary>Reads the length of an array; -1 for null and after a fault.</summary>
    public int ReadArrayLength(int elementBytes) => ReadLength(_limits.MaxArrayLength, elementBytes);

    private NodeId ReadNodeId(byte kind)
    {
        switch (kind)
        {
            case 0:
                return new NodeId(0, Read<byte>());
            case 1:
                byte shortIndex = Read<byte>();
                return new NodeId(shortIndex, Read<ushort>());
            case 2:
                ushort index = Read<ushort>();
                return new NodeId(index, Read<uint>());
            case 3:
                index = Read<ushort>();
                return new NodeId(index, ReadString() ?? string.Empty);
            case 4:
                index = Read<ushort>();
                return TryTakeMemory(ContentOverheadBytes) ? new NodeId(index, ReadGuid()) : default;
            case 5:
                index = Read<ushort>();
                int length = ReadLength(_limits.MaxByteStringBytes, 1);
                return new NodeId(index, length < 0 ? [] : TakeCopy(length));
            default:
                Fail(StatusCodes.BadDecodingError);
                return default;
        }
    }

    // Empty after a fault.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    [SuppressMessage("Style", "IDE0057:Use range operator", Justification = "Two slices of one length read better.")]
    private ReadOnlySpan<byte> Take(int count)
    {
        if ((uint)count > (uint)_rest.Length)
        {
            Fail(StatusCodes.BadDecodingError);
            return default;
        }

        ReadOnlySpan<byte> taken = _rest.Slice(0, count);
        _rest = _rest.Slice(count);
        return taken;
    }

    // Empty after a fault.
    private byte[] TakeCopy(int count) => count > 0 && TryTakeMemory(ContentOverheadBytes) ? Take(count).ToArray() : [];

    // Checks an allocation against the limit. False after a fault.
    private bool TryTakeMemory(long bytes)
    {
        _memoryLeft -= bytes;
        if (_memoryLeft < 0)
        {
            Fail(StatusCodes.BadEncodingLimitsExceeded);
        }

        return _fault.IsGood;
    }

    // The counter is shared by all nesting types.
    private bool Enter(int limit)
    {
        if (_depth >= limit)
        {
            Fail(StatusCodes.BadEncodingLimitsExceeded);
            return false;
        }

        _depth++;
        return true;
    }
}
