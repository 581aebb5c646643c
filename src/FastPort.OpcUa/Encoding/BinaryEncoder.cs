using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.OpcUa.Encoding;

/// <summary>
/// Writes OPC UA Binary (OPC 10000-6, 5.2) into a buffer writer. <see cref="Complete"/> commits the bytes of the last region.
/// </summary>
internal ref partial struct BinaryEncoder(IBufferWriter<byte> writer) : ICodec
{
    // A longer string (in UTF-16 units) is measured before it is encoded; for a shorter one, room for the longest encoding is cheaper.
    private const int MeasuredText = 256;

    // A longer byte string is not copied if the writer can refer to it.
    private const int LentBytes = 64 * 1024;

    private Span<byte> _free = default;
    private int _regionBytes = 0;
    private long _committed = 0;

    /// <summary>Bytes written so far.</summary>
    public readonly long Length => _committed + _regionBytes - _free.Length;

    /// <summary>Commits the written bytes. The encoder can continue.</summary>
    public void Complete()
    {
        int written = _regionBytes - _free.Length;
        if (_regionBytes != 0)
        {
            writer.Advance(written);
            _committed += written;
        }

        _free = default;
        _regionBytes = 0;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write<T>(T value)
        where T : unmanaged
    {
        if (Unsafe.SizeOf<T>() > _free.Length)
        {
            Renew(Unsafe.SizeOf<T>());
        }

        Unsafe.WriteUnaligned(ref MemoryMarshal.GetReference(_free), value);
        _free = _free[Unsafe.SizeOf<T>()..];
    }

    public void WriteBytes(scoped ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > _free.Length)
        {
            Renew(bytes.Length);
        }

        bytes.CopyTo(_free);
        _free = _free[bytes.Length..];
    }

    public void WriteBoolean(bool value) => Write(value ? (byte)1 : (byte)0);

    public void WriteString(string? value)
    {
        if (value is null)
        {
            Write(-1);
            return;
        }

        int room = value.Length > MeasuredText
            ? System.Text.Encoding.UTF8.GetByteCount(value)
            : System.Text.Encoding.UTF8.GetMaxByteCount(value.Length);
        if (sizeof(int) + room > _free.Length)
        {
            Renew(sizeof(int) + room);
        }

        int bytes = System.Text.Encoding.UTF8.GetBytes(value, _free[sizeof(int)..]);
        Unsafe.WriteUnaligned(ref MemoryMarshal.GetReference(_free), bytes);
        _free = _free[(sizeof(int) + bytes)..];
    }

    public void WriteByteString(in ByteString value)
    {
        Write(value.IsNull ? -1 : value.Length);
        if (value.Length >= LentBytes && writer is ILendingWriter lender)
        {
            Complete();
            if (lender.TryLend(value.Memory))
            {
                _committed += value.Length;
                return;
            }
        }

        WriteBytes(value.Span);
    }

    public void WriteDateTime(DateTime value) => Write(UaTime.ToWire(value));

    public void WriteNodeId(in NodeId value) => WriteNodeId(value, flags: 0);

    public void WriteExpandedNodeId(in ExpandedNodeId value)
    {
        WriteNodeId(value.NodeId, (byte)((value.NamespaceUri is null ? 0 : 0x80) | (value.ServerIndex == 0 ? 0 : 0x40)));
        if (value.NamespaceUri is not null)
        {
            WriteString(value.NamespaceUri);
        }

        if (value.ServerIndex != 0)
        {
            Write(value.ServerIndex);
        }
    }

    public void WriteStatusCode(StatusCode value) => Write(value.Value);

    public void WriteQualifiedName(in QualifiedName value)
    {
        Write(value.NamespaceIndex);
        WriteString(value.Name);
    }

    public void WriteLocalizedText(in LocalizedText value)
    {
        Write((byte)((value.Locale is null ? 0 : 1) | (value.Text is null ? 0 : 2)));
        if (value.Locale is not null)
        {
            WriteString(value.Locale);
        }

        if (value.Text is not null)
        {
            WriteString(value.Text);
        }
    }

    public void WriteExtensionObject(ExtensionObject? value)
    {
        if (value is null)
        {
            // The null node id and no body.
            Write((byte)0);
            Write((byte)0);
            Write((byte)0);
            return;
        }

        WriteExpandedNodeId(value.TypeId);
        Write((byte)value.Encoding);
        if (value.Encoding != ExtensionObjectEncoding.None)
        {
            WriteByteString(value.Body);
        }
    }

    public void WriteDiagnosticInfo(DiagnosticInfo? value)
    {
        if (value is null)
        {
            Write((byte)0);
            return;
        }

        int mask = (value.SymbolicId is null ? 0 : 1)
            | (value.NamespaceUri is null ? 0 : 2)
            | (value.LocalizedText is null ? 0 : 4)
            | (value.Locale is null ? 0 : 8)
            | (value.AdditionalInfo is null ? 0 : 0x10)
            | (value.InnerStatusCode is null ? 0 : 0x20)
            | (value.InnerDiagnosticInfo is null ? 0 : 0x40);
        Write((byte)mask);
        WriteIfPresent(value.SymbolicId);
        WriteIfPresent(value.NamespaceUri);
        WriteIfPresent(value.Locale);
        WriteIfPresent(value.LocalizedText);
        if (value.AdditionalInfo is not null)
        {
            WriteString(value.AdditionalInfo);
        }

        if (value.InnerStatusCode is { } status)
        {
            Write(status.Value);
        }

        if (value.InnerDiagnosticInfo is not null)
        {
            WriteDiagnosticInfo(value.InnerDiagnosticInfo);
        }
    }

    public void WriteStructure<T>(in T value)
        where T : struct, IStructure
    {
        // An encoder does not change the fields.
        Unsafe.AsRef(in value).Code(ref this);
    }

    private void WriteIfPresent(int? value)
    {
        if (value is { } number)
        {
            Write(number);
        }
    }

    private void WriteNodeId(in NodeId value, byte flags)
    {
        switch (value.Type)
        {
            case NodeIdType.Numeric when value.NamespaceIndex == 0 && value.Number <= byte.MaxValue:
                Write((ushort)(flags | (value.Number << 8)));
                break;
            case NodeIdType.Numeric when value.NamespaceIndex <= byte.MaxValue && value.Number <= ushort.MaxValue:
                Write(1u | flags | ((uint)value.NamespaceIndex << 8) | (value.Number << 16));
                break;
            case NodeIdType.Numeric:
                Write((byte)(2 | flags));
                Write(value.NamespaceIndex);
                Write(value.Number);
                break;
            case NodeIdType.String:
                Write((byte)(3 | flags));
                Write(value.NamespaceIndex);
                WriteString(value.Text);
                break;
            case NodeIdType.Guid:
                Write((byte)(4 | flags));
                Write(value.NamespaceIndex);
                Write(value.Guid);
                break;
            default:
                Write((byte)(5 | flags));
                Write(value.NamespaceIndex);
                WriteByteString(value.Bytes);
                break;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Renew(int count)
    {
        Complete();
        _free = writer.GetSpan(count);
        _regionBytes = _free.Length;
    }
}
