using System.Net;
using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <summary>
/// One end of a link within the process. Its pump takes what the peer has written from the <see cref="LinkPipe"/> between them and offers
/// it to the protocol.
/// <para>
/// The pump never runs on the sending thread's stack: that thread may hold locks that a handler needs, would be blocked for as long as the
/// peer's handler runs, and two ends that answer each other would overflow the stack.
/// </para>
/// </summary>
internal sealed partial class InProcessConnection : PumpedConnection
{
    private LinkPipe _outbound = null!;
    private LinkPipe _inbound = null!;
    private LinkInput _input = null!;

    private InProcessConnection(Endpoint endpoint, ConnectionSettings settings, int? spinMicroseconds)
        : base(settings, new LinkName(endpoint), unixPeer: null)
    {
        Waiting = new LoopWaiting(spinMicroseconds);
        _look = Look;
    }

    public override EndPoint? LocalEndPoint => RemoteEndPoint;

    protected override long Received => _inbound.BytesReceived;

    public override long PendingBytes => _outbound.PendingBytes;

    public override bool IsSendBlocked => _outbound.IsBlocked;

    /// <summary>Makes both ends of a link.</summary>
    public static (InProcessConnection Connecting, InProcessConnection Accepted) CreatePair(
        Endpoint endpoint, (ConnectionSettings Settings, int? Spin) connecting, (ConnectionSettings Settings, int? Spin) accepting)
    {
        var first = new InProcessConnection(endpoint, connecting.Settings, connecting.Spin);
        var second = new InProcessConnection(endpoint, accepting.Settings, accepting.Spin);
        var there = new LinkPipe(first, second, connecting.Settings);
        var back = new LinkPipe(second, first, accepting.Settings);
        first.Join(there, back);
        second.Join(back, there);
        return (first, second);
    }

    protected override SendQueue Output => _outbound;

    public override ArrayPoolCircularBuffer? BeginWrite()
    {
        ArrayPoolCircularBuffer? ring = base.BeginWrite();
        if (ring is null)
        {
            _outbound.WriteRefused();
        }

        return ring;
    }

    internal override int BatchesInLineFrom => SendQueue.CopyAtMost;

    internal override bool HasUnreadInput => _inbound.HasUntaken;

    public override void Flush()
    {
        RequestTick();
        _outbound.Flush();
    }

    protected override void OnAborted() => Signal(PumpSignals.Look);

    internal override void ShutDownOutput()
    {
        OutputIsDown();
        Signal(PumpSignals.Look);
    }

    /// <summary>The peer has ended and has not received all bytes sent to it.</summary>
    internal void LosePeer()
    {
        Lose(Lost);
        Signal(PumpSignals.Look);
    }

    internal override void Finish()
    {
        LeaveClock();
        CompleteEndAsLoop();
    }

    private static CloseReason Lost { get; } = new(
        CloseKind.ConnectionLost, "The connection was lost (the other end of the link is gone).");

    private void Join(LinkPipe outbound, LinkPipe inbound)
    {
        _outbound = outbound;
        _inbound = inbound;
        _input = new LinkInput(inbound, Settings, ReceivePool);
    }

    protected override void End()
    {
        if (!TryBeginEnd())
        {
            return;
        }

        _input.Dispose();
        _outbound.ReleaseWhenIdle();

        // This side first: a peer that also aborts finds a reset, regardless of what else it loses.
        _outbound.CloseSender();
        _inbound.CloseReceiver();
        _outbound.EndHold();
    }

    // The address of both ends.
    private sealed class LinkName(Endpoint endpoint) : EndPoint
    {
        public override string ToString() => endpoint.ToString();
    }
}
