using System.Buffers;
using System.IO.Compression;
using FastPort.Connections;

namespace FastPort.WebSockets;

/// <summary>
/// Inflates the peer's compressed messages (RFC 7692, 7.2.2), as much at a time as the reader has room for. Owned by the loop. It is also
/// the stream from which the runtime's inflater reads.
/// </summary>
/// <param name="pool">The pool of the receive rings. The inflater's memory counts with their arrays.</param>
internal sealed class WebSocketInflater(ArrayPool<byte> pool) : UnseekableStream
{
    /// <summary>What an inflater holds, in bytes: measured (docs/decisions/0063-websockets.md).</summary>
    public const int MemoryBytes = 44 * 1024;

    // Data comes later than the bytes that it is inflated from, of which the inflater takes 8 KiB at once.
    private const int MostUnpaid = 16 * 1024;

    private readonly BudgetedPool? _memory = pool as BudgetedPool;
    private DeflateStream? _inflate;
    private ArrayPoolCircularBuffer? _input;

    // Of the frame: bytes of the payload that are left, the masking key for the first of them, and whether the message ends with it.
    private long _left;
    private uint _mask;
    private bool _isMasked;
    private bool _isLast;

    // Bytes left of the message's end, and whether the inflater has asked for more than there is.
    private int _endLeft;
    private bool _hasAsked;

    // Of the message: its bytes less those of its data, as far as they are not in Wasted; and whether it had data.
    private long _unpaid;
    private bool _hasData;

    /// <summary>Whether a frame is not yet inflated to its end.</summary>
    public bool IsInFrame { get; private set; }

    /// <summary>Whether the next bytes of the frame have not arrived.</summary>
    public bool IsStarved => IsInFrame && _hasAsked;

    /// <summary>
    /// Whether a block has said that it is the last. The runtime's inflater does not tell where it ended, so nothing can follow.
    /// </summary>
    public bool HasEnded { get; private set; }

    /// <summary>Whether the message that has ended had no data.</summary>
    public bool WasEmpty => _isLast && !_hasData;

    /// <summary>Bytes of payloads that exceeded the data of their message.</summary>
    public long Wasted { get; private set; }

    public override bool CanRead => true;

    public override bool CanWrite => false;

    /// <summary>Begins a frame, whose header was consumed.</summary>
    public void Begin(in WebSocketHeader header)
    {
        if (header.Opcode != WebSocketOpcode.Continuation)
        {
            (_unpaid, _hasData) = (0, false);
        }

        _left = header.Length;
        _isMasked = header.Mask is not null;
        _mask = header.Mask ?? 0;
        _isLast = header.IsFinal;
        _endLeft = header.IsFinal ? WebSocketCompression.FlushEnd.Length : 0;
        _hasAsked = false;
        IsInFrame = true;
    }

    /// <summary>Inflates a part of the frame.</summary>
    /// <param name="input">The peer's bytes; those used are consumed.</param>
    /// <param name="room">Gets the data.</param>
    /// <returns>Bytes of data; 0 at the end of the frame, or if it is starved.</returns>
    /// <exception cref="InvalidDataException">The bytes are not compressed data, or a block says that it is the last.</exception>
    public int Inflate(ArrayPoolCircularBuffer input, Span<byte> room)
    {
        if (_inflate is null)
        {
            _inflate = new DeflateStream(this, CompressionMode.Decompress, leaveOpen: true);
            _memory?.Add(MemoryBytes);
        }

        _input = input;
        _hasAsked = false;
        int count = _inflate.Read(room);
        if (count == 0 && !_hasAsked)
        {
            HasEnded = true;
            throw new InvalidDataException("A block has said that it is the last.");
        }

        IsInFrame = count != 0 || _left != 0 || _endLeft != 0;
        _hasData |= count != 0;
        _unpaid -= count;
        if (_unpaid > MostUnpaid || (_unpaid > 0 && _isLast && !IsInFrame))
        {
            Wasted += _unpaid;
            _unpaid = 0;
        }

        return count;
    }

    /// <summary>Called by the inflater when it has used everything: gives it the next bytes.</summary>
    public override int Read(Span<byte> buffer)
    {
        int count = Math.Min(_endLeft, buffer.Length);
        if (_left == 0)
        {
            WebSocketCompression.FlushEnd.Slice(WebSocketCompression.FlushEnd.Length - _endLeft, count).CopyTo(buffer);
            _endLeft -= count;
        }
        else
        {
            _input!.GetReadableSpans(out ReadOnlySpan<byte> bytes, out _);
            count = (int)Math.Min(Math.Min(bytes.Length, buffer.Length), _left);
            if (_isMasked)
            {
                _mask = WebSocketMask.Copy(bytes[..count], buffer, _mask);
            }
            else
            {
                bytes[..count].CopyTo(buffer);
            }

            _input.Consume(count);
            _left -= count;
            _unpaid += count;
        }

        _hasAsked = count == 0;
        return count;
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override void Flush()
    {
    }

    protected override void Dispose(bool disposing)
    {
        Release();
        base.Dispose(disposing);
    }

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    private void Release()
    {
        if (_inflate is { } inflate)
        {
            _inflate = null;
            inflate.Dispose();
            _memory?.Remove(MemoryBytes);
        }
    }
}
