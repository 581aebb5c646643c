using System.Buffers;
using FastPort.Connections;

namespace FastPort.Proxies;

/// <summary>A trusted proxy's connection without its header. The message says what is wrong.</summary>
internal sealed class ProxyHeaderException(string message) : IOException(message);

/// <summary>
/// Reads the PROXY header before the connection's protocol begins. The rest of the bytes waits in the ring for that protocol. All calls
/// come on the loop. The stage that awaits the header resumes on a worker, never on the loop.
/// </summary>
internal sealed class ProxyPreamble(HandshakeWorkers workers) : IConnectionPreamble, IHandshakeStep
{
    private readonly TaskCompletionSource<ProxyHeader> _header = new();
    private ProxyHeader _read;
    private Exception? _failure;
    private bool _isDone;
    private bool _hasReceived;

    /// <summary>The header, when it was read.</summary>
    /// <exception cref="ProxyHeaderException">The bytes are not a PROXY header, or ended before it did.</exception>
    /// <exception cref="PeerLeftException">The peer has left without a byte.</exception>
    /// <exception cref="IOException">The connection has ended.</exception>
    public Task<ProxyHeader> Header => _header.Task;

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        if (_isDone)
        {
            return ReceiveOutcome.Pause;
        }

        _hasReceived = true;
        int length = Math.Min(input.Length, ProxyHeader.MaxBytes);
        byte[] bytes = ArrayPool<byte>.Shared.Rent(length);
        input.GetReadableSequence(0, length).CopyTo(bytes);
        ProxyHeaderStatus status = ProxyHeader.Read(bytes.AsSpan(0, length), out _read);
        ArrayPool<byte>.Shared.Return(bytes);
        switch (status)
        {
            case ProxyHeaderStatus.Incomplete:
                return ReceiveOutcome.Continue;
            case ProxyHeaderStatus.Invalid:
                Done(new ProxyHeaderException(
                    "it comes from a trusted proxy and does not begin with a PROXY header of version 1 or 2"));
                break;
            default:
                input.Consume(_read.Length);
                Done(failure: null);
                break;
        }

        return ReceiveOutcome.Pause;
    }

    public void OnInputEnded(bool truncated) => Done(
        _hasReceived
            ? new ProxyHeaderException("it comes from a trusted proxy and ended before its PROXY header did")
            : new PeerLeftException());

    public void OnClosed(CloseReason reason) => Done(
        !_hasReceived && PeerLeftException.IsReason(reason) ? new PeerLeftException() : new IOException(reason.Message));

    void IHandshakeStep.Run()
    {
        if (_failure is null)
        {
            _header.SetResult(_read);
        }
        else
        {
            _header.SetException(_failure);
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
