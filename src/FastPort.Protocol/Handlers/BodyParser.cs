using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Google.Protobuf;

namespace FastPort.Protocol.Handlers;

/// <summary>
/// Parses the bodies of one message type. Cuts borrowed bytes fields out of the body and passes the rest, often nothing, to the message's
/// parser; if nothing can be cut, the parser gets the whole body. A class rather than a generic method: shared generic code would look up
/// the message type in every call. Thread-safe.
/// </summary>
internal sealed class BodyParser<T>
    where T : IMessage<T>
{
    private readonly MessageParser<T> _parser;
    private readonly ushort _type;
    private readonly string _name = typeof(T).Name;

    // The borrowed fields, and an empty message to clone; null if no field is borrowed.
    private readonly BorrowedFields? _lent;
    private readonly T? _empty;

    public BodyParser(ushort type, MessageParser<T> parser, BytesFields bytesFields)
    {
        _type = type;
        _parser = parser;

        // A parser that refuses an empty body has required fields and must get the whole body.
        if (bytesFields == BytesFields.Borrowed
            && TryCopy([], out _empty, out _)
            && new BorrowedFields(_empty.Descriptor) is { Any: true } fields)
        {
            _lent = fields;
        }
    }

    /// <summary>Parses an inline handler's request.</summary>
    /// <param name="request">The request.</param>
    /// <param name="message">The message.</param>
    /// <param name="lent">
    /// The memory of the borrowed fields; the caller ends it when the handler has ended. Null if nothing is borrowed.
    /// </param>
    /// <param name="problem">Why not, for the error reply; null if the body was parsed.</param>
    public bool TryParse(
        scoped ref InlineRequest request,
        [NotNullWhen(true)] out T? message,
        out BorrowedBytes? lent,
        [NotNullWhen(false)] out string? problem)
    {
        if (request.TryGetBodyMemory(out ReadOnlyMemory<byte> body))
        {
            return TryParse(body, out message, out lent, out problem);
        }

        // The body wraps in the ring and is copied. Its fields are borrowed here too: otherwise the wrong use of a kept field would not be
        // detected for these messages.
        if (_lent is not null)
        {
            return TryParse(request.Body.ToArray(), out message, out lent, out problem);
        }

        lent = null;
        return TryCopy(request.Body, out message, out problem);
    }

    /// <summary>Parses a body in one piece.</summary>
    /// <param name="body">The body; must stay unchanged until the handler has ended.</param>
    /// <param name="message">The message.</param>
    /// <param name="lent">
    /// The memory of the borrowed fields; the caller ends it when the handler has ended. Null if nothing is borrowed.
    /// </param>
    /// <param name="problem">Why not, for the error reply; null if the body was parsed.</param>
    public bool TryParse(
        ReadOnlyMemory<byte> body,
        [NotNullWhen(true)] out T? message,
        out BorrowedBytes? lent,
        [NotNullWhen(false)] out string? problem)
    {
        if (_lent is not null && _lent.IsOnly(body.Span, out int field, out int contents))
        {
            message = _empty!.Clone();
            problem = null;
            lent = Lend(body);
            _lent.Set(message, field, lent.Memory[contents..]);
            return true;
        }

        return TryParseMixed(body, out message, out lent, out problem);
    }

    // A separate method: its stack space would otherwise be cleared for every message.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryParseMixed(
        ReadOnlyMemory<byte> body,
        [NotNullWhen(true)] out T? message,
        out BorrowedBytes? lent,
        [NotNullWhen(false)] out string? problem)
    {
        lent = null;
        ReadOnlySpan<byte> bytes = body.Span;
        BorrowedFields.Cuts places = default;
        if (_lent is null || !_lent.TryFind(bytes, ref places, out int count) || count == 0)
        {
            return TryCopy(bytes, out message, out problem);
        }

        ReadOnlySpan<BorrowedFields.Cut> cuts = places[..count];
        ReadOnlySpan<byte> rest = BorrowedFields.Rest(bytes, cuts);
        if (rest.IsEmpty)
        {
            message = _empty!.Clone();
            problem = null;
        }
        else if (!TryCopy(rest, out message, out problem))
        {
            return false;
        }

        lent = Lend(body);
        _lent.Set(message, lent.Memory, cuts);
        return true;
    }

    private BorrowedBytes Lend(ReadOnlyMemory<byte> body)
    {
        // Only borrowed memory of a peer in the same process may have no array.
        ArraySegment<byte> array = MemoryMarshal.TryGetArray(body, out ArraySegment<byte> segment) ? segment : body.ToArray();
        return new BorrowedBytes(array.Array!, array.Offset, array.Count, _name);
    }

    private bool TryCopy(
        ReadOnlySpan<byte> body, [NotNullWhen(true)] out T? message, [NotNullWhen(false)] out string? problem)
    {
        try
        {
            message = _parser.ParseFrom(body);
            problem = null;
            return true;
        }
        catch (InvalidProtocolBufferException e)
        {
            message = default;
            problem = MalformedBody.Describe($"The body of message 0x{_type:X4}", _name, e);
            return false;
        }
    }

    private bool TryCopy(
        ReadOnlySequence<byte> body, [NotNullWhen(true)] out T? message, [NotNullWhen(false)] out string? problem)
    {
        try
        {
            message = _parser.ParseFrom(body);
            problem = null;
            return true;
        }
        catch (InvalidProtocolBufferException e)
        {
            message = default;
            problem = MalformedBody.Describe($"The body of message 0x{_type:X4}", _name, e);
            return false;
        }
    }
}
