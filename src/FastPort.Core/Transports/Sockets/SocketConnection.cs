using System.Net;
using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>
/// A stream socket driven by SocketAsyncEventArgs. Its pump waits for data with a zero-byte receive, which needs no buffer, then receives
/// straight into the ring until the kernel has no more.
/// </summary>
internal sealed partial class SocketConnection : PumpedConnection
{
    // Milliseconds of the coarse clock.
    private const long LookForResetEvery = 1000;

    private readonly Socket _socket;
    private readonly ReceiveBuffer _input;
    private readonly SocketOutput _output;
    private readonly WaitArgs _wait;
    private long _lookedForReset;

    // Written by the pump before it rests: nothing waits at the socket, so nobody would hear that the peer has reset it.
    private volatile bool _nobodyReceives;

    public SocketConnection(Socket socket, ConnectionSettings settings)
        : base(settings)
    {
        _socket = socket;
        RemoteEndPoint = TryGet(static s => s.RemoteEndPoint);
        LocalEndPoint = TryGet(static s => s.LocalEndPoint);
        _input = new ReceiveBuffer(settings.MaxReceiveBytes, ReceivePool);
        _output = new SocketOutput(socket, this, settings);
        _wait = new WaitArgs(this);
    }

    public override EndPoint? RemoteEndPoint { get; }

    public override EndPoint? LocalEndPoint { get; }

    public override long BytesReceived => _input.BytesReceived;

    public override long BytesSent => _output.BytesSent;

    public override long PendingBytes => _output.PendingBytes;

    public override bool IsSendBlocked => _output.IsBlocked;

    internal override long SendCalls => _output.SendCalls;

    protected override SendQueue Output => _output;

    public override void Flush()
    {
        RequestTick();
        _output.Flush();
    }

    public override void FlushSoon()
    {
        RequestTick();
        _output.FlushSoon();
    }

    internal override long Tick(long nowMilliseconds, bool requested)
    {
        if (!IsClosing && IsReset(nowMilliseconds))
        {
            return ConnectionClock.NextTick;
        }

        long due = base.Tick(nowMilliseconds, requested);
        return _nobodyReceives ? Math.Min(due, _lookedForReset + LookForResetEvery) : due;
    }

    protected override void OnClosing()
    {
        _output.ShutDownWhenFlushed();
        Signal(PumpSignals.Look);
    }

    protected override void OnAborted()
    {
        EndOperations();
        Signal(PumpSignals.Look);
    }

    // Ends pending operations on both sides, so that the pump itself comes to its end and disposes; no other thread disposes under it.
    private void EndOperations()
    {
        try
        {
            _socket.Shutdown(SocketShutdown.Both);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Not connected any more: pending operations have ended already.
        }
    }

    // Whoever works for a peer that has reset the connection may stop.
    private bool IsReset(long nowMilliseconds)
    {
        if (!_nobodyReceives || nowMilliseconds - _lookedForReset < LookForResetEvery)
        {
            return false;
        }

        _lookedForReset = nowMilliseconds;
        try
        {
            var error = (SocketError)(int)_socket.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.Error)!;
            if (error == SocketError.Success)
            {
                return false;
            }

            Abort(Lost(error));
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // It has just ended by itself.
        }

        return true;
    }

    /// <summary>
    /// The last byte is sent: ends this side of the stream. By whoever sends, under the output's gate, for which the pump waits before it
    /// disposes the socket.
    /// </summary>
    internal void ShutDownOutput()
    {
        OutputIsDown();
        try
        {
            _socket.Shutdown(SocketShutdown.Send);
        }
        catch (SocketException)
        {
            // The peer was faster; the reading side learns the same.
        }

        Signal(PumpSignals.Look);
    }

    /// <summary>The socket refused to send; by the flusher.</summary>
    internal void OutputFailed(SocketError error) => Abort(Lost(error));

    /// <summary>The last flusher has ended after the pump did.</summary>
    internal void OutputQuiescent() => Finish();

    protected override void End()
    {
        if (Has(ReadFlags.Receiving))
        {
            // Its completion brings the pump here again.
            Lose(CloseReason.LocalClosed);
            EndOperations();
            return;
        }

        if (!TryBeginEnd())
        {
            return;
        }

        _input.Ring.Dispose();
        _output.ReleaseWhenIdle();
        if (_output.TryClose())
        {
            Finish();
        }
        else
        {
            // A flusher is waiting for the socket: make its operation fail.
            EndOperations();
        }
    }

    private void Finish()
    {
        LeaveClock();
        if (EndsByReset)
        {
            try
            {
                _socket.LingerState = new LingerOption(enable: true, seconds: 0);
            }
            catch (SocketException)
            {
            }
        }

        _socket.Dispose();
        _wait.Dispose();
        CompleteEndAsLoop();
    }

    private static CloseReason Lost(SocketError error) => new(CloseKind.ConnectionLost, $"The connection was lost ({error}).");

    private EndPoint? TryGet(Func<Socket, EndPoint?> read)
    {
        try
        {
            return read(_socket);
        }
        catch (SocketException)
        {
            // Reset before it was accepted.
            return null;
        }
    }
}
