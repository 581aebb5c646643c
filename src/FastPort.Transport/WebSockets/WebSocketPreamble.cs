using System.Buffers;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.WebSockets;

/// <summary>The head of an HTTP message was not what begins a WebSocket. The message says why.</summary>
internal sealed class WebSocketRefusedException(string message) : IOException(message);

/// <summary>
/// Reads the head of the peer's HTTP message, then upgrades the connection; what follows the head waits in the ring. The head is read on
/// the loop. The upgrade runs on a worker, never on the loop.
/// </summary>
/// <param name="connection">The connection.</param>
/// <param name="workers">Where the upgrade runs.</param>
internal abstract class WebSocketPreamble(TransportConnection connection, HandshakeWorkers workers) : IConnectionPreamble, IHandshakeStep
{
    private readonly TaskCompletionSource<Connection?> _upgraded = new();
    private Exception? _failure;
    private bool _isDone;
    private bool _hasReceived;
    private int _searched;

    /// <summary>The connection, a WebSocket now. Completed on a worker.</summary>
    /// <exception cref="WebSocketRefusedException">The head does not begin a WebSocket.</exception>
    /// <exception cref="PeerLeftException">The peer has left without a byte.</exception>
    /// <exception cref="IOException">The connection has ended.</exception>
    public Task<Connection?> Upgraded => _upgraded.Task;

    protected TransportConnection Connection => connection;

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        if (_isDone || input.IsEmpty)
        {
            return _isDone ? ReceiveOutcome.Pause : ReceiveOutcome.Continue;
        }

        _hasReceived = true;
        int length = Math.Min(input.Length, HttpHead.MaxBytes);

        // The end is searched for in new bytes only: a peer may send them one at a time.
        int from = Math.Max(0, _searched - 3);
        byte[] bytes = ArrayPool<byte>.Shared.Rent(length);
        input.CopyTo(from, bytes.AsSpan(from, length - from));
        int end = HttpHead.FindEnd(bytes.AsSpan(from, length - from));
        if (end >= 0)
        {
            end += from;
            input.CopyTo(0, bytes.AsSpan(0, end));
            OnHead(HttpHead.TryRead(bytes.AsSpan(0, end), out HttpHead head), head);
            input.Consume(end);
            Done(failure: null);
        }

        ArrayPool<byte>.Shared.Return(bytes);
        _searched = length;
        if (end < 0 && length == HttpHead.MaxBytes)
        {
            OnTooLong();
            Done(failure: null);
        }

        return _isDone ? ReceiveOutcome.Pause : ReceiveOutcome.Continue;
    }

    public void OnInputEnded(bool truncated) => Done(
        _hasReceived ? new WebSocketRefusedException("the stream ended before the peer's HTTP message did") : new PeerLeftException());

    public void OnClosed(CloseReason reason) => Done(
        !_hasReceived && PeerLeftException.IsReason(reason) ? new PeerLeftException() : new IOException(reason.Message));

    void IHandshakeStep.Run()
    {
        Exception? failure = _failure;
        try
        {
            if (failure is null && Upgrade() is { } refusal)
            {
                failure = new WebSocketRefusedException(refusal);
            }
        }
        catch (Exception e)
        {
            failure = e;
        }

        if (failure is null)
        {
            _upgraded.SetResult(connection);
        }
        else
        {
            _upgraded.SetException(failure);
        }
    }

    /// <summary>Checks the head, and keeps what <see cref="Upgrade"/> needs of it. On the loop.</summary>
    /// <param name="isHttp">Whether it is the head of an HTTP message.</param>
    /// <param name="head">The head, valid during the call.</param>
    protected abstract void OnHead(bool isHttp, HttpHead head);

    /// <summary>The head has more than <see cref="HttpHead.MaxBytes"/>. On the loop.</summary>
    protected abstract void OnTooLong();

    /// <summary>Makes the connection a WebSocket, or says why not. On a worker.</summary>
    protected abstract string? Upgrade();

    private void Done(Exception? failure)
    {
        if (!_isDone)
        {
            _isDone = true;
            _failure = failure;
            workers.Add(this);
        }
    }
}
