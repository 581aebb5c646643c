using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using FastPort.Dispatch;
using Google.Protobuf;

namespace FastPort.Protocol.Handlers;

/// <summary>
/// Parses the bodies of one message type. Where bytes fields are lent, they are cut out of the body; what is left, often nothing, goes
/// through the message's own parser, as does all of it where nothing can be cut. An object rather than a generic method: code that is
/// shared between all messages would have to look up, call by call, for which one it runs. Thread-safe.
/// </summary>
internal sealed class BodyParser<T>
    where T : IMessage<T>
{
    private readonly MessageParser<T> _parser;
    private readonly ushort _type;
    private readonly string _name = typeof(T).Name;

    // Which fields are lent, and an empty message to create others from; null where no field is lent.
    private readonly BorrowedFields? _lent;
    private readonly T? _empty;

    public BodyParser(ushort type, MessageParser<T> parser, BytesFields bytesFields)
    {
        _type = type;
        _parser = parser;

        // A parser that refuses an empty body has required fields, and has to see the whole body.
        if (bytesFields == BytesFields.Borrowed && TryCopy([], out _empty) && new BorrowedFields(_empty.Descriptor) is { Any: true } fields)
        {
            _lent = fields;
        }
    }

    /// <summary>What the sender of a body that does not parse is told.</summary>
    public string ParseError => $"The body of message 0x{_type:X4} is no {_name} message.";

    /// <summary>Parses an inline handler's request.</summary>
    /// <param name="request">The request.</param>
    /// <param name="message">The message.</param>
    /// <param name="lent">What its fields show, to be ended when the handler has; null where nothing is lent.</param>
    public bool TryParse(scoped ref InlineRequest request, [NotNullWhen(true)] out T? message, out BorrowedBytes? lent)
    {
        if (request.TryGetBodyMemory(out ReadOnlyMemory<byte> body))
        {
            return TryParse(body, out message, out lent);
        }

        // The body lies across the wrap of the ring. Its fields are lent here too; otherwise a field that is kept wrongly would go
        // unnoticed for these messages.
        if (_lent is not null)
        {
            return TryParse(request.Body.ToArray(), out message, out lent);
        }

        lent = null;
        return TryCopy(request.Body, out message);
    }

    /// <summary>Parses a body in one piece.</summary>
    /// <param name="body">The body; unchanged until the handler has ended.</param>
    /// <param name="message">The message.</param>
    /// <param name="lent">What its fields show, to be ended when the handler has; null where nothing is lent.</param>
    public bool TryParse(ReadOnlyMemory<byte> body, [NotNullWhen(true)] out T? message, out BorrowedBytes? lent)
    {
        if (_lent is not null && _lent.IsOnly(body.Span, out int field, out int contents))
        {
            message = _empty!.Clone();
            lent = Lend(body);
            _lent.Set(message, field, lent.Memory[contents..]);
            return true;
        }

        return TryParseMixed(body, out message, out lent);
    }

    // A method of its own: its room on the stack would have to be cleared for every message.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryParseMixed(ReadOnlyMemory<byte> body, [NotNullWhen(true)] out T? message, out BorrowedBytes? lent)
    {
        lent = null;
        ReadOnlySpan<byte> bytes = body.Span;
        BorrowedFields.Cuts places = default;
        if (_lent is null || !_lent.TryFind(bytes, ref places, out int count) || count == 0)
        {
            return TryCopy(bytes, out message);
        }

        ReadOnlySpan<BorrowedFields.Cut> cuts = places[..count];
        ReadOnlySpan<byte> rest = BorrowedFields.Rest(bytes, cuts);
        if (rest.IsEmpty)
        {
            message = _empty!.Clone();
        }
        else if (!TryCopy(rest, out message))
        {
            return false;
        }

        lent = Lend(body);
        _lent.Set(message, lent.Memory, cuts);
        return true;
    }

    private BorrowedBytes Lend(ReadOnlyMemory<byte> body)
    {
        // There is no array only where a peer in the same process has lent memory of another kind.
        ArraySegment<byte> array = MemoryMarshal.TryGetArray(body, out ArraySegment<byte> segment) ? segment : body.ToArray();
        return new BorrowedBytes(array.Array!, array.Offset, array.Count, _name);
    }

    private bool TryCopy(ReadOnlySpan<byte> body, [NotNullWhen(true)] out T? message)
    {
        try
        {
            message = _parser.ParseFrom(body);
            return true;
        }
        catch (InvalidProtocolBufferException)
        {
            message = default;
            return false;
        }
    }

    private bool TryCopy(ReadOnlySequence<byte> body, [NotNullWhen(true)] out T? message)
    {
        try
        {
            message = _parser.ParseFrom(body);
            return true;
        }
        catch (InvalidProtocolBufferException)
        {
            message = default;
            return false;
        }
    }
}
