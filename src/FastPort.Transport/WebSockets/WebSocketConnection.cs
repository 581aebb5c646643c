using System.Buffers.Binary;
using FastPort.Connections;
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

    // Loop only.
    private ArrayPoolCircularBuffer? _input;
    private WebSocketProgress _progress;
    private bool _isCut;

    /// <param name="below">See <see cref="LayeredConnection"/>.</param>
    /// <param name="settings">Settings of the connection.</param>
    /// <param name="protocol">The protocol above.</param>
    /// <param name="isServer">Whether the peer is the client, whose frames are masked; otherwise this side's are.</param>
    private WebSocketConnection(Connection below, ConnectionSettings settings, WebSocketProtocol protocol, bool isServer)
        : base(below, settings)
    {
        _protocol = protocol;
        _reader = new WebSocketReader(expectsMask: isServer);
        _output = new WebSocketOutput(this, below, settings, masks: !isServer);
    }

    protected override LayerOutput Layer => _output;

    /// <summary>The WebSocket connection above one whose handshake has ended.</summary>
    /// <inheritdoc cref="WebSocketConnection(Connection, ConnectionSettings, WebSocketProtocol, bool)"/>
    /// <exception cref="IOException">The connection below has ended.</exception>
    public static WebSocketConnection Above(Connection below, ConnectionSettings settings, WebSocketProtocol protocol, bool isServer)
    {
        var connection = new WebSocketConnection(below, settings, protocol, isServer);
        below.Start(connection);

        // If it has ended already, the new protocol is not told.
        return below.IsClosing ? throw new IOException("The connection was closed after the WebSocket handshake.") : connection;
    }

    // It waits below.
    protected override ReceiveOutcome OnReceivedBeforeStart(ArrayPoolCircularBuffer input) => ReceiveOutcome.Pause;

    protected override void EndInput() => _isCut = true;

    protected override void BeginBurst(ArrayPoolCircularBuffer? input, bool isNewTurn)
    {
        _input = input;
        if (isNewTurn)
        {
            _reader.BeginTurn();
        }
    }

    protected override void EndBurst() => _input = null;

    protected override bool TryUnwrap()
    {
        if (_input is null)
        {
            return false;
        }

        if (_progress != WebSocketProgress.Read)
        {
            // What follows a Close means nothing (RFC 6455, 5.5.1).
            _input.Consume(_input.Length);
            return false;
        }

        int before = Data.Ring.Length;
        _progress = _reader.Read(_input, Data, BurstBytes);
        if (_reader.HasPing)
        {
            AnswerPing();
        }

        return Data.Ring.Length != before;
    }

    protected override bool AfterReading()
    {
        switch (_progress)
        {
            case WebSocketProgress.Violated:
                Close(new CloseReason(CloseKind.ProtocolError, $"The peer sent {_reader.Violation}."));
                return false;
            case WebSocketProgress.Closed:
                ReportInputEnd(!Data.Ring.IsEmpty);
                return false;
            case var _ when _isCut:
                // An attacker on the path may have cut the stream: the protocol must not treat it as complete.
                Close(Cut);
                return false;
            default:
                return _reader.IsTurnOver;
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

    private void AnswerPing()
    {
        ReadOnlySpan<byte> payload = _reader.TakePing();
        if (Below.PendingBytes < MaxPendingForPong)
        {
            _output.Write(WebSocketOpcode.Pong, payload);
            Below.Flush();
        }
    }
}
