using System.Buffers;
using System.Buffers.Binary;
using FastPort.Framing;

namespace FastPort.Client.Load;

/// <summary>
/// The body of all Echo messages of a run, encoded once: the Protocol Buffers field, then the payload. Each request writes its stamp over
/// the first bytes and, if there is room, the last ones, to detect a reply to another request or a mixture of two replies. Immutable;
/// shared by all connections.
/// </summary>
internal sealed class EchoPayload
{
    private const byte PayloadTag = (1 << 3) | 2;
    private const int StampSize = sizeof(ulong);

    private readonly byte[] _body;
    private readonly int _first;
    private readonly int _firstLength;

    // Index of the second stamp; 0 if the payload has no room for it.
    private readonly int _second;

    public EchoPayload(int size)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(size);
        _body = new byte[BodySize(size)];
        _first = _body.Length - size;
        _firstLength = Math.Min(size, StampSize);
        _second = size >= 2 * StampSize ? _body.Length - StampSize : 0;
        if (size == 0)
        {
            // Proto3 omits an empty field.
            return;
        }

        _body[0] = PayloadTag;
        int i = 1;
        uint rest = (uint)size;
        for (; rest >= 0x80; rest >>= 7)
        {
            _body[i++] = (byte)(rest | 0x80);
        }

        _body[i] = (byte)rest;
        new Random(size).NextBytes(_body.AsSpan(_first));
    }

    /// <summary>Bytes of the body.</summary>
    public int Length => _body.Length;

    /// <summary>Bytes of the body for a payload of <paramref name="size"/> bytes.</summary>
    public static int BodySize(int size)
    {
        if (size == 0)
        {
            return 0;
        }

        int bits = 32 - System.Numerics.BitOperations.LeadingZeroCount((uint)size);
        return checked(1 + ((bits + 6) / 7) + size);
    }

    /// <summary>The largest payload whose body has at most <paramref name="bodySize"/> bytes.</summary>
    public static int LargestPayload(int bodySize)
    {
        int size = Math.Max(0, bodySize - 2);
        while (BodySize(size) > bodySize)
        {
            size--;
        }

        return size;
    }

    /// <summary>Writes the body with a request's stamp.</summary>
    /// <param name="destination">Exactly <see cref="Length"/> bytes.</param>
    /// <param name="stamp">The request's stamp.</param>
    public void Write(Span<byte> destination, ulong stamp)
    {
        _body.CopyTo(destination);
        Span<byte> bytes = stackalloc byte[StampSize];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, stamp);
        bytes[.._firstLength].CopyTo(destination[_first..]);
        if (_second != 0)
        {
            bytes.CopyTo(destination[_second..]);
        }
    }

    /// <summary>Whether a reply's body equals the body of the request with this stamp.</summary>
    public bool Matches(in ReadOnlySequence<byte> body, ulong stamp)
    {
        if (body.IsSingleSegment)
        {
            return Matches(body.FirstSpan, stamp);
        }

        if (body.Length != _body.Length)
        {
            return false;
        }

        // The body wraps in the receive ring. This is rare, so it is copied.
        byte[] copy = ArrayPool<byte>.Shared.Rent(_body.Length);
        body.CopyTo(copy);
        bool matches = Matches(copy.AsSpan(0, _body.Length), stamp);
        ArrayPool<byte>.Shared.Return(copy);
        return matches;
    }

    private bool Matches(ReadOnlySpan<byte> body, ulong stamp)
    {
        if (body.Length != _body.Length)
        {
            return false;
        }

        Span<byte> bytes = stackalloc byte[StampSize];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, stamp);
        ReadOnlySpan<byte> expected = _body;
        int afterFirst = _first + _firstLength;
        int end = _second == 0 ? _body.Length : _second;
        return body[..afterFirst].EndsWith(bytes[.._firstLength])
            && body[.._first].SequenceEqual(expected[.._first])
            && body[afterFirst..end].SequenceEqual(expected[afterFirst..end])
            && body[end..].SequenceEqual(_second == 0 ? [] : bytes);
    }
}

/// <summary>An Echo body with its stamp, written in place in the send ring.</summary>
internal readonly struct EchoBody(EchoPayload payload, ulong stamp) : IFrameBody
{
    public int Size => payload.Length;

    public void Write(Span<byte> destination) => payload.Write(destination, stamp);
}
