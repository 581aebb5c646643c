using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Transports.Epoll.Native;

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

    // Written by the pump before it rests: no receive is pending at the socket, so none would report a reset by the peer.
    private volatile bool _nobodyReceives;

    public SocketConnection(Socket socket, ConnectionSettings settings)
        : base(settings, TryGet(socket, static s => s.RemoteEndPoint), ReadPeer(socket))
    {
        _socket = socket;
        LocalEndPoint = TryGet(socket, static s => s.LocalEndPoint);
        _input = new ReceiveBuffer(settings.MaxReceiveBytes, ReceivePool);
        _output = new SocketOutput(socket, this, settings);
        _wait = new WaitArgs(this);
    }

    public override EndPoint? LocalEndPoint { get; }

    protected override long Received => _input.BytesReceived;

    public override long PendingBytes => _output.PendingBytes;

    public override bool IsSendBlocked => _output.IsBlocked;

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

    internal override bool HasUnreadInput
    {
        get
        {
            try
            {
                return _socket.Available != 0;
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                return false;
            }
        }
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

    protected override void OnAborted()
    {
        EndOperations();
        Signal(PumpSignals.Look);
    }

    // Makes pending operations on both sides fail, so that the pump itself ends and disposes the socket; no other thread disposes it in the
    // meantime.
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

    // A reset is detected so that work for a peer that has gone may stop.
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
            // The connection has just ended.
        }

        return true;
    }

    // The pump takes the output's gate before it disposes the socket.
    internal override void ShutDownOutput()
    {
        OutputIsDown();
        try
        {
            _socket.Shutdown(SocketShutdown.Send);
        }
        catch (SocketException)
        {
            // The peer has closed already; the reading side sees the same.
        }

        Signal(PumpSignals.Look);
    }

    /// <summary>A send failed. Called by the flusher.</summary>
    internal void OutputFailed(SocketError error) => Abort(Lost(error));

    protected override void End()
    {
        if (Has(ReadFlags.Receiving))
        {
            // The completion of the receive makes the pump call this again.
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
        if (!_output.TryEnd())
        {
            // A flusher waits for the socket: this makes its operation fail.
            EndOperations();
        }
    }

    internal override void Finish()
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
        _output.Dispose();
        CompleteEndAsLoop();
    }

    private static CloseReason Lost(SocketError error) => new(CloseKind.ConnectionLost, $"The connection was lost ({error}).");

    private static UnixPeer? ReadPeer(Socket socket) =>
        OperatingSystem.IsLinux() && socket.AddressFamily == AddressFamily.Unix ? NativeSocket.ReadPeer((int)socket.Handle) : null;

    private static EndPoint? TryGet(Socket socket, Func<Socket, EndPoint?> read)
    {
        try
        {
            return read(socket);
        }
        catch (SocketException)
        {
            // Reset before it was accepted.
            return null;
        }
    }
}
