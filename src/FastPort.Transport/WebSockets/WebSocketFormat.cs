using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.WebSockets;

/// <summary>
/// The frames of a WebSocket. The binary messages are one stream of bytes: where they begin and end means nothing. The loop answers Pings,
/// between frames with data.
/// </summary>
internal sealed class WebSocketFormat : WireFormat
{
    // The protocol is offered this much at once at most: its answers leave before more is read.
    private const int BurstBytes = 256 * 1024;

    // A peer that does not read gets no more answers to its Pings (RFC 6455, 5.5.3 allows answering the last one only).
    private const int MaxPendingForPong = 64 * 1024;

    private static readonly CloseReason Cut =
        new(CloseKind.PeerTruncated, "The peer's stream ended without a WebSocket Close: it was cut off.");

    private readonly WebSocketProtocol _protocol;
    private readonly bool _isServer;

    // Owned by the loop. The sender reads the progress and the close code once, after the connection has begun to close.
    private readonly WebSocketReader _reader;
    private readonly ReceiveBuffer _data;
    private readonly WebSocketInflater? _inflater;
    private WebSocketProgress _progress;
    private bool _isPaused;
    private (long Frames, long Bytes) _offeredWithoutData;

    // Owned by the sender. Null without compression, as the inflater.
    private readonly WebSocketDeflater? _deflater;

    /// <param name="connection">The connection, after its handshake.</param>
    /// <param name="protocol">The protocol above.</param>
    /// <param name="isServer">Whether the peer is the client, whose frames are masked; otherwise this side's are.</param>
    /// <param name="maxReceiveBytes">Unread bytes that the protocol may leave.</param>
    /// <param name="compression">What was agreed about compression; null for none, and for a client.</param>
    public WebSocketFormat(
        TransportConnection connection,
        WebSocketProtocol protocol,
        bool isServer,
        int maxReceiveBytes,
        WebSocketCompression? compression = null)
        : base(connection)
    {
        _protocol = protocol;
        _isServer = isServer;
        if (compression is not null)
        {
            _inflater = new WebSocketInflater(connection.ReceivePool);
            _deflater = new WebSocketDeflater(connection.SendPool, compression.Resets);
        }

        _reader = new WebSocketReader(expectsMask: isServer, _inflater);
        _data = new ReceiveBuffer(maxReceiveBytes, connection.ReceivePool);
    }

    public override long BytesReceived => _data.BytesReceived;

    public override (long Frames, long Bytes) WithoutData => _reader.WithoutData;

    public override void OnReceived(ArrayPoolCircularBuffer input)
    {
        // After a pause the protocol is called even without new bytes: it must learn that reading has resumed. So it is after frames
        // without data, for which it may charge the peer.
        bool offers = _isPaused;
        while (offers || TryUnwrap(input) || _reader.WithoutData != _offeredWithoutData)
        {
            offers = false;
            _offeredWithoutData = _reader.WithoutData;
            _isPaused = !Connection.OfferToProtocol(_data.Ring);
            if (_isPaused || Connection.IsClosing)
            {
                return;
            }
        }

        if (_progress == WebSocketProgress.Violated)
        {
            Connection.Close(new CloseReason(CloseKind.ProtocolError, $"The peer sent {_reader.Violation}."));
        }
        else if (_progress == WebSocketProgress.Closed)
        {
            Connection.ReportInputEndToProtocol(!_data.Ring.IsEmpty);
        }
        else if (_reader.IsTurnOver)
        {
            _reader.BeginTurn();
            Connection.Yield();
        }

        _data.Ring.ReleaseWhenIdle();
    }

    public override void OnInputEnded()
    {
        // An attacker on the path may have cut the stream: the protocol must not treat it as complete.
        if (_progress == WebSocketProgress.Read && !Connection.IsClosing)
        {
            Connection.Close(Cut);
        }
    }

    protected override int WriteEnd(Span<byte> frame)
    {
        CloseReason reason = Connection.ClosingReason ?? CloseReason.LocalClosed;
        ushort code = _progress == WebSocketProgress.Violated
            || (_progress == WebSocketProgress.Closed && _reader.CloseCode != 0 && reason.Kind == CloseKind.PeerClosed)
                ? _reader.CloseCode
                : _protocol.CloseCode(reason);
        Span<byte> payload = stackalloc byte[sizeof(ushort)];
        BinaryPrimitives.WriteUInt16BigEndian(payload, code);
        return WriteControl(frame, WebSocketOpcode.Close, payload);
    }

    public override void Release()
    {
        base.Release();
        _data.Ring.Dispose();
        _inflater?.Dispose();
        _deflater?.Dispose();
    }

    protected override byte[] Write(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, out int start, out int end)
    {
        start = MaxHeader;
        if (_deflater?.TryCompress(first, second, start, out byte[] frame, out end) == true)
        {
            Span<byte> header = stackalloc byte[MaxHeader];
            int size = WebSocketHeader.Write(header, WebSocketOpcode.Binary, end - start, mask: null, WebSocketHeader.Compressed);
            start -= size;
            header[..size].CopyTo(frame.AsSpan(start));
            return frame;
        }

        frame = Connection.SendPool.Rent(first.Length + second.Length + MaxHeader);
        start = 0;
        end = Write(WebSocketOpcode.Binary, frame, first, second) + first.Length + second.Length;
        return frame;
    }

    private int Write(WebSocketOpcode opcode, Span<byte> destination, ReadOnlySpan<byte> first, ReadOnlySpan<byte> second)
    {
        uint? mask = null;
        if (!_isServer)
        {
            // The key must be unpredictable for the author of the payload (RFC 6455, 5.3).
            uint random = 0;
            RandomNumberGenerator.Fill(MemoryMarshal.AsBytes(new Span<uint>(ref random)));
            mask = random;
        }

        int size = WebSocketHeader.Write(destination, opcode, first.Length + second.Length, mask);
        Span<byte> payload = destination[size..];
        if (mask is { } key)
        {
            key = WebSocketMask.Copy(first, payload, key);
            WebSocketMask.Copy(second, payload[first.Length..], key);
        }
        else
        {
            first.CopyTo(payload);
            second.CopyTo(payload[first.Length..]);
        }

        return size;
    }

    private int WriteControl(Span<byte> frame, WebSocketOpcode opcode, ReadOnlySpan<byte> payload) =>
        Write(opcode, frame, payload, default) + payload.Length;

    // True if payload was added.
    private bool TryUnwrap(ArrayPoolCircularBuffer input)
    {
        if (_progress != WebSocketProgress.Read)
        {
            // What follows a Close means nothing (RFC 6455, 5.5.1).
            input.Consume(input.Length);
            return false;
        }

        int before = _data.Ring.Length;
        _progress = _reader.Read(input, _data, BurstBytes);
        if (_reader.HasPing)
        {
            AnswerPing();
        }

        return _data.Ring.Length != before;
    }

    private void AnswerPing()
    {
        ReadOnlySpan<byte> payload = _reader.TakePing();
        if (Connection.PendingBytes < MaxPendingForPong)
        {
            Span<byte> frame = stackalloc byte[MaxHeader + WebSocketHeader.MaxControlLength];
            Connection.WriteUnframed(frame[..WriteControl(frame, WebSocketOpcode.Pong, payload)]);
        }
    }
}
