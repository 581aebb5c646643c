using System.Buffers.Binary;
using FastPort.Connections;
using FastPort.Transports;
using FastPort.Transports.Layers;

namespace FastPort.WebSockets;

/// <summary>
/// A connection whose bytes travel in the binary messages of a WebSocket, after its handshake. The messages are one stream of bytes: where
/// they begin and end means nothing. The loop alone reads, and writes the control frames.
/// </summary>
internal sealed class WebSocketConnection : LayeredConnection
{
    // The protocol is offered this much at once at most: its answers leave before more is read.
    private const int BurstBytes = 256 * 1024;

    // A peer that does not read gets no more answers to its Pings (RFC 6455, 5.5.3 allows answering the last one only).
    private const int MaxPendingForPong = 64 * 1024;

    private static readonly CloseReason Cut =
        new(CloseKind.PeerTruncated, "The peer's stream ended without a WebSocket Close: it was cut off.");

    private readonly WebSocketProtocol _protocol;
    private readonly WebSocketReader _reader;
    private readonly WebSocketOutput _output;
    private readonly ReceiveBuffer _data;

    // Loop only. A violation has a close code of its own.
    private WebSocketProgress _progress;
    private bool _isCut;
    private bool _offers;

    /// <param name="below">See <see cref="LayeredConnection"/>.</param>
    /// <param name="settings">Settings of the connection.</param>
    /// <param name="protocol">The protocol above.</param>
    /// <param name="isServer">Whether the peer is the client, whose frames are masked; otherwise this side's are.</param>
    public WebSocketConnection(Connection below, ConnectionSettings settings, WebSocketProtocol protocol, bool isServer)
        : base(below, settings)
    {
        _protocol = protocol;
        _reader = new WebSocketReader(expectsMask: isServer);
        _output = new WebSocketOutput(this, below, settings, masks: !isServer);
        _data = new ReceiveBuffer(settings.MaxReceiveBytes, ReceivePool);
    }

    public override long BytesReceived => _data.BytesReceived;

    protected override LayerOutput Layer => _output;

    public override ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        if (IsClosing)
        {
            DropInput(input);
            return ReceiveOutcome.Continue;
        }

        if (Has(ReadFlags.Open) && !Has(ReadFlags.Paused))
        {
            Pump(input);
        }

        return (!Has(ReadFlags.Open) || Has(ReadFlags.Paused)) && !IsClosing ? ReceiveOutcome.Pause : ReceiveOutcome.Continue;
    }

    public override void OnInputEnded(bool truncated)
    {
        _isCut = true;
        if (Has(ReadFlags.Open) && !Has(ReadFlags.Paused))
        {
            Pump(input: null);
        }
    }

    protected override void Resume()
    {
        if (!Has(ReadFlags.Open) || Is(LifeFlags.Ended))
        {
            return;
        }

        // After a pause an empty ring is offered, too: the protocol must learn that reading has resumed.
        _offers = Has(ReadFlags.Paused);
        Set(ReadFlags.Paused, false);
        Pump(input: null);
        if (!Has(ReadFlags.Paused))
        {
            // The rest waits in the ring below.
            Below.ResumeReading();
        }
    }

    protected override void WriteEnd()
    {
        ushort code = _progress == WebSocketProgress.Violated
            || (_progress == WebSocketProgress.Closed && _reader.CloseCode != 0 && ClosingReason?.Kind == CloseKind.PeerClosed)
                ? _reader.CloseCode
                : _protocol.CloseCode(ClosingReason ?? CloseReason.LocalClosed);
        Span<byte> payload = stackalloc byte[sizeof(ushort)];
        BinaryPrimitives.WriteUInt16BigEndian(payload, code);
        _output.Write(WebSocketOpcode.Close, payload);
    }

    protected override void ReleaseInput() => _data.Ring.Dispose();

    // Reads and offers until nothing is left to read or the protocol pauses.
    private void Pump(ArrayPoolCircularBuffer? input)
    {
        InBurst = true;
        try
        {
            Read(input);
        }
        catch (Exception e)
        {
            ReadFault(e);
        }
        finally
        {
            InBurst = false;
        }

        if (_output.NotWrapped != 0)
        {
            _output.Flush();
        }
    }

    private void Read(ArrayPoolCircularBuffer? input)
    {
        bool offers = _offers || !_data.Ring.IsEmpty;
        _offers = false;
        while (!IsClosing)
        {
            if (!offers && !TryRead(input))
            {
                break;
            }

            offers = false;
            OfferTo(_data.Ring);
            if (Has(ReadFlags.Paused))
            {
                return;
            }
        }

        if (IsClosing)
        {
            return;
        }

        if (_progress == WebSocketProgress.Violated)
        {
            Close(new CloseReason(CloseKind.ProtocolError, $"The peer sent {_reader.Violation}."));
        }
        else if (_progress == WebSocketProgress.Closed)
        {
            ReportInputEnd(!_data.Ring.IsEmpty);
        }
        else if (_isCut)
        {
            // An attacker on the path may have cut the stream: the protocol must not treat it as complete.
            Close(Cut);
        }
        else
        {
            _data.Ring.ReleaseWhenIdle();
        }
    }

    // True if bytes were added to the ring.
    private bool TryRead(ArrayPoolCircularBuffer? input)
    {
        if (input is null)
        {
            return false;
        }

        if (_progress != WebSocketProgress.Read)
        {
            // What follows a Close means nothing (RFC 6455, 5.5.1).
            input.Consume(input.Length);
            return false;
        }

        int before = _data.Ring.Length;
        _progress = _reader.Read(input, _data, BurstBytes);
        if (_reader.TakePing() is { } ping && Below.PendingBytes < MaxPendingForPong)
        {
            _output.Write(WebSocketOpcode.Pong, ping);
            Below.Flush();
        }

        return _data.Ring.Length != before;
    }
}
