using System.Buffers.Binary;
using System.Text;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.WebSockets;

/// <summary>What a reader has come to.</summary>
internal enum WebSocketProgress
{
    /// <summary>All bytes are read, or the data buffer is full.</summary>
    Read,

    /// <summary>The peer has sent Close: no data follows.</summary>
    Closed,

    /// <summary>The peer has violated the protocol.</summary>
    Violated,
}

/// <summary>
/// Reads WebSocket frames. The payloads of binary messages are one stream of bytes, however they are cut into messages and fragments; only
/// what is left of one control frame is buffered. Not thread-safe.
/// </summary>
/// <param name="expectsMask">Whether the peer is a client, which masks every frame (RFC 6455, 5.1).</param>
/// <param name="inflater">Of compressed messages; null if compression was not agreed.</param>
internal sealed class WebSocketReader(bool expectsMask, WebSocketInflater? inflater = null)
{
    /// <summary>
    /// Frames after which the loop's other connections have their turn, in however many receives they came: a receive may have 100,000
    /// frames without data, which no turn of the protocol counts.
    /// </summary>
    internal const int FramesPerTurn = 4096;

    // In a turn so many bytes of inflated data count as one more frame: a turn inflates 1 MiB, of few received bytes.
    private const int InflatedPerFrame = 256;

    // However much room there is, which a few bytes could fill.
    private const int InflatedAtOnce = 64 * 1024;

    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    // Of the data frame that is being read.
    private long _left;
    private uint _mask;
    private bool _isMasked;

    // Whether fragments of a message are to follow, and whether its frames are compressed.
    private bool _isInMessage;
    private bool _isCompressed;

    // Whether a frame without data may end a message of which there was some.
    private bool _mayEndEmpty;
    private long _framesWithoutData;
    private long _bytesWithoutData;

    // Of the last Ping that is not answered. The array is made for the first one.
    private byte[] _ping = [];
    private int _pingLength;
    private int _framesLeft = FramesPerTurn;

    /// <summary>The close code of the peer's Close; 0 if it has none (RFC 6455, 5.5.1). Of a violation, that for the answer.</summary>
    public ushort CloseCode { get; private set; }

    /// <summary>What the violation is, for a log line.</summary>
    public string Violation { get; private set; } = string.Empty;

    /// <summary>Whether there is a Ping that is not answered.</summary>
    public bool HasPing { get; private set; }

    /// <summary>
    /// Frames that brought no data, and bytes on the wire that did not. An empty frame after one with data does not count: it ends a
    /// message whose length its sender did not know.
    /// </summary>
    public (long Frames, long Bytes) WithoutData => (_framesWithoutData, _bytesWithoutData + (inflater?.Wasted ?? 0));

    /// <summary>Whether as many frames were read as a turn may have: the rest waits for the next turn.</summary>
    public bool IsTurnOver => _framesLeft == 0;

    /// <summary>Begins the next turn.</summary>
    public void BeginTurn() => _framesLeft = FramesPerTurn;

    /// <summary>Takes the payload of the last Ping: only that need be answered (RFC 6455, 5.5.3). Valid until the next read.</summary>
    public ReadOnlySpan<byte> TakePing()
    {
        HasPing = false;
        return _ping.AsSpan(0, _pingLength);
    }

    /// <summary>Reads frames until the input is empty, the data buffer is full, the turn is over, or the stream ends.</summary>
    /// <param name="input">The peer's bytes; those read are consumed.</param>
    /// <param name="data">Gets the payloads of binary messages.</param>
    /// <param name="maximum">Adds about this many bytes of data at most.</param>
    public WebSocketProgress Read(ArrayPoolCircularBuffer input, ReceiveBuffer data, int maximum)
    {
        int added = 0;
        while (!input.IsEmpty || inflater?.IsInFrame == true)
        {
            bool inflates = inflater?.IsInFrame == true;
            if ((inflates || _left == 0) && _framesLeft == 0)
            {
                break;
            }

            bool needsMore = false;
            WebSocketProgress progress = WebSocketProgress.Read;
            if (!inflates && _left == 0)
            {
                progress = ReadHeader(input, out needsMore);
            }
            else if (added != 0 && (added >= maximum || !data.HasRoom))
            {
                break;
            }
            else if (inflates)
            {
                progress = Inflate(inflater!, input, data, ref added, out needsMore);
            }
            else
            {
                added += ReadData(input, data);
            }

            if (needsMore || progress != WebSocketProgress.Read)
            {
                return progress;
            }
        }

        return WebSocketProgress.Read;
    }

    private int ReadData(ArrayPoolCircularBuffer input, ReceiveBuffer data)
    {
        Span<byte> room = data.MakeRoom();
        input.GetReadableSpans(out ReadOnlySpan<byte> bytes, out _);
        int count = (int)Math.Min(Math.Min(bytes.Length, room.Length), _left);
        if (_isMasked)
        {
            _mask = WebSocketMask.Copy(bytes[..count], room, _mask);
        }
        else
        {
            bytes[..count].CopyTo(room);
        }

        data.Received(count, room.Length);
        input.Consume(count);
        _left -= count;
        return count;
    }

    private WebSocketProgress Inflate(
        WebSocketInflater from, ArrayPoolCircularBuffer input, ReceiveBuffer data, ref int added, out bool needsMore)
    {
        needsMore = false;
        Span<byte> room = data.MakeRoom();
        room = room[..Math.Min(room.Length, InflatedAtOnce)];
        int count;
        try
        {
            count = from.Inflate(input, room);
        }
        catch (InvalidDataException)
        {
            return Violate(
                WebSocketCloseCodes.InvalidData,
                from.HasEnded ? "a compressed block that says that it is the last" : "a compressed message that cannot be inflated");
        }

        if (count != 0)
        {
            data.Received(count, room.Length);
            added += count;
        }

        needsMore = from.IsStarved;
        _framesLeft = Math.Max(0, _framesLeft - (count / InflatedPerFrame));
        _framesWithoutData += !from.IsInFrame && from.WasEmpty ? 1 : 0;
        return WebSocketProgress.Read;
    }

    private WebSocketProgress ReadHeader(ArrayPoolCircularBuffer input, out bool needsMore)
    {
        Span<byte> bytes = stackalloc byte[WebSocketHeader.MaxSize];
        bytes = bytes[..Math.Min(bytes.Length, input.Length)];
        input.CopyTo(0, bytes);
        int size = WebSocketHeader.Read(bytes, out WebSocketHeader header);
        needsMore = size == 0;
        if (needsMore)
        {
            return WebSocketProgress.Read;
        }

        _framesLeft--;
        if (WhatIsWrong(header) is { } problem)
        {
            return Violate(
                header.Opcode == WebSocketOpcode.Text ? WebSocketCloseCodes.Unsupported : WebSocketCloseCodes.Violation, problem);
        }

        if (header.IsControl)
        {
            return ReadControl(input, header, size, out needsMore);
        }

        input.Consume(size);
        if (header.Length == 0 && !_mayEndEmpty)
        {
            CountWithoutData(size);
        }

        _mayEndEmpty = header.Length != 0;
        _isInMessage = !header.IsFinal;
        if (inflater is not null && (header.Opcode == WebSocketOpcode.Continuation ? _isCompressed : header.Reserved != 0))
        {
            _isCompressed = true;
            inflater.Begin(header);
            return WebSocketProgress.Read;
        }

        _isCompressed = false;
        _left = header.Length;
        _isMasked = header.Mask is not null;
        _mask = header.Mask ?? 0;
        return WebSocketProgress.Read;
    }

    private void CountWithoutData(int bytes)
    {
        _framesWithoutData++;
        _bytesWithoutData += bytes;
    }

    private string? WhatIsWrong(in WebSocketHeader header) => header switch
    {
        { Reserved: not 0 } when inflater is null || header.Reserved != WebSocketHeader.Compressed =>
            $"a frame with the reserved bits {header.Reserved}, for which no extension was agreed",
        { Opcode: WebSocketOpcode.Text } => "a text message; FastPort's frames come in binary messages",
        _ when !Enum.IsDefined(header.Opcode) => $"a frame of the unknown kind {(int)header.Opcode}",
        _ when header.Mask is null == expectsMask => expectsMask ? "a frame that is not masked" : "a masked frame",
        { Length: < 0 } or { IsShortest: false } => "a length that is not written in the fewest bytes, or is above 2^63 - 1",
        { IsControl: true, Length: > WebSocketHeader.MaxControlLength } => $"a control frame of {header.Length} bytes",
        { IsControl: true, IsFinal: false } => "a control frame in fragments",
        { Reserved: not 0, Opcode: not WebSocketOpcode.Binary } => "a compressed frame that does not begin a message",
        { Opcode: WebSocketOpcode.Continuation } when !_isInMessage => "a continuation of no message",
        { Opcode: WebSocketOpcode.Binary } when _isInMessage => "a new message before the end of the last",
        _ => null,
    };

    private WebSocketProgress ReadControl(ArrayPoolCircularBuffer input, in WebSocketHeader header, int size, out bool needsMore)
    {
        int length = (int)header.Length;
        needsMore = input.Length < size + length;
        if (needsMore)
        {
            return WebSocketProgress.Read;
        }

        Span<byte> payload = stackalloc byte[WebSocketHeader.MaxControlLength];
        payload = payload[..length];
        input.CopyTo(size, payload);
        input.Consume(size + length);
        if (header.Mask is { } mask)
        {
            WebSocketMask.Copy(payload, payload, mask);
        }

        switch (header.Opcode)
        {
            case WebSocketOpcode.Ping:
                CountWithoutData(size + length);
                _ping = _ping.Length == 0 ? new byte[WebSocketHeader.MaxControlLength] : _ping;
                payload.CopyTo(_ping);
                (_pingLength, HasPing) = (length, true);
                return WebSocketProgress.Read;
            case WebSocketOpcode.Close:
                return ReadClose(payload);
            default:
                CountWithoutData(size + length);
                return WebSocketProgress.Read;
        }
    }

    private WebSocketProgress ReadClose(ReadOnlySpan<byte> payload)
    {
        if (payload.IsEmpty)
        {
            return WebSocketProgress.Closed;
        }

        ushort code = payload.Length == 1 ? (ushort)0 : BinaryPrimitives.ReadUInt16BigEndian(payload);
        if (!WebSocketCloseCodes.MayBeSent(code))
        {
            return Violate(WebSocketCloseCodes.Violation, $"a Close with the code {code}, which no peer may send");
        }

        try
        {
            Strict.GetCharCount(payload[2..]);
        }
        catch (DecoderFallbackException)
        {
            return Violate(WebSocketCloseCodes.InvalidData, "a Close whose reason is not UTF-8");
        }

        CloseCode = code;
        return WebSocketProgress.Closed;
    }

    private WebSocketProgress Violate(ushort code, string what)
    {
        CloseCode = code;
        Violation = what;
        return WebSocketProgress.Violated;
    }
}
