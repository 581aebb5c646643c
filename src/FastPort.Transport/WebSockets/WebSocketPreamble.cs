using System.Buffers;
using FastPort.Connections;

namespace FastPort.WebSockets;

/// <summary>The head of an HTTP message was not what begins a WebSocket. The message says why.</summary>
internal sealed class WebSocketRefusedException(string message) : IOException(message);

/// <summary>
/// Reads the head of the peer's HTTP message before the WebSocket begins; what follows it waits in the ring. All calls come on the loop.
/// The code that awaits the head resumes on a worker, never on the loop.
/// </summary>
internal sealed class WebSocketPreamble(HandshakeWorkers workers) : IConnectionPreamble, IHandshakeStep
{
    private readonly TaskCompletionSource<HttpHead?> _head = new();
    private HttpHead? _read;
    private Exception? _failure;
    private bool _isDone;
    private bool _hasReceived;
    private int _searched;

    /// <summary>The head when it was read; null if it is malformed.</summary>
    /// <exception cref="WebSocketRefusedException">The head is too long.</exception>
    /// <exception cref="PeerLeftException">The peer has left without a byte.</exception>
    /// <exception cref="IOException">The connection has ended.</exception>
    public Task<HttpHead?> Head => _head.Task;

    /// <summary>Whether the head is too long. Known when <see cref="Head"/> has completed.</summary>
    public bool IsTooLong { get; private set; }

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
            _read = HttpHead.Read(bytes.AsSpan(0, end));
            input.Consume(end);
            Done(failure: null);
        }

        ArrayPool<byte>.Shared.Return(bytes);
        _searched = length;
        if (end < 0 && length == HttpHead.MaxBytes)
        {
            IsTooLong = true;
            Done(new WebSocketRefusedException($"the head of the peer's HTTP message has more than {HttpHead.MaxBytes} bytes"));
        }

        return _isDone ? ReceiveOutcome.Pause : ReceiveOutcome.Continue;
    }

    public void OnInputEnded(bool truncated) => Done(
        _hasReceived ? new WebSocketRefusedException("the stream ended before the peer's HTTP message did") : new PeerLeftException());

    public void OnClosed(CloseReason reason) => Done(
        !_hasReceived && PeerLeftException.IsReason(reason) ? new PeerLeftException() : new IOException(reason.Message));

    void IHandshakeStep.Run()
    {
        if (_failure is null)
        {
            _head.SetResult(_read);
        }
        else
        {
            _head.SetException(_failure);
        }
    }

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
