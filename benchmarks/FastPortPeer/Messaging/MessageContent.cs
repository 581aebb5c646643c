using FastPort;
using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.InteropServices;
using FastPort.Framing;

namespace FastPortPeer.Messaging;

/// <summary>
/// The messages of the comparison, the same as those of benchmarks/Native/zmq_peer.c: a fixed pattern with its <see cref="MessageMark"/> in
/// the first and the last 8 bytes. A receiver reads the first and the last 64 bytes of each, which have to add up. Immutable.
/// </summary>
internal sealed class MessageContent
{
    private const int EdgeBytes = 64;
    private const int MarkBytes = sizeof(ulong);

    private readonly byte[] _pattern;
    private readonly ulong _edgesOfZero;
    private readonly ulong _marksCounted;

    /// <summary>Makes messages of one size.</summary>
    /// <param name="size">Bytes: 64, or at least 128, so that the edges are one or do not overlap.</param>
    public MessageContent(int size)
    {
        _pattern = new byte[size];
        for (int i = 0; i < size; i++)
        {
            _pattern[i] = (byte)((i * 31) + 7);
        }

        byte[] message = new byte[size];
        Write(message, default);
        _edgesOfZero = Edges(message, message);
        Write(message, new MessageMark(1));
        _marksCounted = Edges(message, message) - _edgesOfZero;
    }

    public int Size => _pattern.Length;

    /// <summary>Writes a message.</summary>
    /// <param name="destination">Exactly <see cref="Size"/> bytes.</param>
    /// <param name="mark">Its mark.</param>
    public void Write(Span<byte> destination, MessageMark mark)
    {
        new RawBody(_pattern).Write(destination);
        BinaryPrimitives.WriteUInt64LittleEndian(destination, mark.Value);
        BinaryPrimitives.WriteUInt64LittleEndian(destination[^MarkBytes..], mark.Value);
    }

    /// <summary>Reads a received message's mark and verifies what can be told of it.</summary>
    /// <exception cref="PeerException">Its length, its edges or its number are wrong.</exception>
    public MessageMark Verify(ref InlineRequest request, long expectedNumber)
    {
        if (request.BodySize != Size)
        {
            throw new PeerException($"A message has {request.BodySize} bytes instead of {Size}.");
        }

        if (request.TryGetBodySpan(out ReadOnlySpan<byte> bytes))
        {
            return Verify(bytes[..EdgeBytes], bytes[^EdgeBytes..], expectedNumber);
        }

        // The message lies across the wrap of the receive ring.
        ReadOnlySequence<byte> body = request.Body;
        Span<byte> head = stackalloc byte[EdgeBytes];
        Span<byte> tail = stackalloc byte[EdgeBytes];
        body.Slice(0, EdgeBytes).CopyTo(head);
        body.Slice(Size - EdgeBytes).CopyTo(tail);
        return Verify(head, tail, expectedNumber);
    }

    private MessageMark Verify(ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail, long expectedNumber)
    {
        var mark = new MessageMark(BinaryPrimitives.ReadUInt64LittleEndian(head));
        if (Edges(head, tail) != unchecked(_edgesOfZero + (_marksCounted * mark.Value)))
        {
            throw new PeerException($"Message {mark.Number} is damaged.");
        }

        return mark.Number == expectedNumber
            ? mark
            : throw new PeerException($"Message {mark.Number} came where {expectedNumber} was due.");
    }

    private static ulong Edges(ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail)
    {
        ReadOnlySpan<ulong> first = MemoryMarshal.Cast<byte, ulong>(head[..EdgeBytes]);
        ReadOnlySpan<ulong> last = MemoryMarshal.Cast<byte, ulong>(tail[^EdgeBytes..]);
        ulong sum = 0;
        for (int i = 0; i < first.Length; i++)
        {
            sum = unchecked(sum + first[i] + last[i]);
        }

        return sum;
    }
}

/// <summary>A message with its mark, written straight into the send ring.</summary>
internal readonly struct MessageBody(MessageContent content, MessageMark mark) : IFrameBody
{
    public int Size => content.Size;

    public void Write(Span<byte> destination) => content.Write(destination, mark);
}
