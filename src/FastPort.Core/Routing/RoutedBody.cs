using System.Buffers;
using FastPort.Buffers;
using FastPort.Framing;

namespace FastPort.Routing;

/// <summary>An outgoing Relay or Publication: the body's bytes are copied from their source into the frame, once.</summary>
internal readonly ref struct RoutedBody : IFrameBody
{
    private readonly ReadOnlySpan<byte> _address;
    private readonly ReadOnlySpan<byte> _first;
    private readonly ReadOnlySpan<byte> _second;
    private readonly ReadOnlySpan<byte> _fromField;
    private readonly ushort _type;

    /// <param name="address">Routing id or topic.</param>
    /// <param name="type">The application's message type.</param>
    /// <param name="body">The body.</param>
    /// <param name="fromField">Field 4, encoded; empty for none.</param>
    public RoutedBody(ReadOnlySpan<byte> address, ushort type, ReadOnlySpan<byte> body, ReadOnlySpan<byte> fromField = default)
        : this(address, type, body, default, fromField)
    {
    }

    /// <inheritdoc cref="RoutedBody(ReadOnlySpan{byte}, ushort, ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>
    public RoutedBody(ReadOnlySpan<byte> address, ushort type, in ReadOnlySequence<byte> body, ReadOnlySpan<byte> fromField)
        : this(address, type, body.FirstSpan, body.IsSingleSegment ? default : body.Slice(body.FirstSpan.Length).FirstSpan, fromField)
    {
    }

    private RoutedBody(
        ReadOnlySpan<byte> address, ushort type, ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, ReadOnlySpan<byte> fromField)
    {
        _address = address;
        _type = type;
        _first = first;
        _second = second;
        _fromField = fromField;
    }

    public int Size => ProtoBody.BytesFieldSize(_address.Length) + ProtoBody.FieldSize(_type)
        + ProtoBody.BytesFieldSize(_first.Length + _second.Length) + _fromField.Length;

    public void Write(Span<byte> destination)
    {
        int at = ProtoBody.WriteField(destination, 1, _address);
        at += ProtoBody.WriteField(destination[at..], 2, _type);
        at += ProtoBody.WriteHead(destination[at..], 3, _first.Length + _second.Length);
        LargeCopy.Copy(_first, destination[at..]);
        at += _first.Length;
        LargeCopy.Copy(_second, destination[at..]);
        at += _second.Length;
        _fromField.CopyTo(destination[at..]);
    }
}

/// <summary>A Relay or Publication sent by the application.</summary>
/// <param name="address">Routing id or topic.</param>
/// <param name="type">The application's message type.</param>
/// <param name="body">The body.</param>
/// <param name="fromField">Field 4, encoded; null for none.</param>
internal readonly struct RoutedBody<TBody>(string address, ushort type, TBody body, byte[]? fromField = null) : IFrameBody
    where TBody : IFrameBody
{
    public int Size => ProtoBody.FieldSize(address) + ProtoBody.FieldSize(type) + ProtoBody.BytesFieldSize(body.Size)
        + (fromField?.Length ?? 0);

    public void Write(Span<byte> destination)
    {
        int at = ProtoBody.WriteField(destination, 1, address);
        at += ProtoBody.WriteField(destination[at..], 2, type);
        int size = body.Size;
        at += ProtoBody.WriteHead(destination[at..], 3, size);
        body.Write(destination.Slice(at, size));
        fromField?.CopyTo(destination[(at + size)..]);
    }
}
