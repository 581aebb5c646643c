using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace FastPort.Transports.Sockets;

/// <content>The flusher's part: from the sending ring to the kernel. One thread at a time, the one that set
/// <see cref="_flushing"/>.</content>
internal sealed partial class SocketOutput
{
    private void Send()
    {
        try
        {
            SendAll();
        }
        catch (Exception e)
        {
            _connection.SendFault(e);
            Fail(SocketError.Fault);
        }
    }

    private void SendAll()
    {
        int rounds = 0;
        do
        {
            while (!_sending.IsEmpty)
            {
                Volatile.Write(ref _calls, _calls + 1);
                int count = _socket.Send(_sending.NextSpan, SocketFlags.None, out SocketError error);
                if (error == SocketError.Success)
                {
                    Sent(count);
                }
                else if (error is SocketError.WouldBlock)
                {
                    if (SendPending())
                    {
                        return;
                    }
                }
                else if (error is not SocketError.Interrupted)
                {
                    Fail(error);
                    return;
                }
            }

            if (++rounds == RoundsPerTurn)
            {
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                return;
            }
        }
        while (TakeMore());
    }

    // True while the operation is under way: its completion goes on from there.
    private bool SendPending()
    {
        _args ??= new SendArgs(this);
        ReadOnlyMemory<byte> memory = _sending.NextMemory;
        _args.SetBuffer(MemoryMarshal.AsMemory(memory[..Math.Min(memory.Length, PendingChunk)]));
        _blocked = true;
        Volatile.Write(ref _calls, _calls + 1);
        return _socket.SendAsync(_args) || !Completed();
    }

    // True where sending can go on on this thread.
    private bool Completed()
    {
        _blocked = false;
        if (_args!.SocketError != SocketError.Success)
        {
            Fail(_args.SocketError);
            return false;
        }

        int count = _args.BytesTransferred;
        if (_sending.EverBorrowed)
        {
            // Not to be kept alive after its release.
            _args.SetBuffer(Memory<byte>.Empty);
        }

        Sent(count);
        return true;
    }

    private void Sent(int count)
    {
        bool ended = _sending.Sent(count, out BorrowedSegments.Segment segment);
        Interlocked.Add(ref _sent, count);
        if (ended)
        {
            _connection.Release(segment);
        }

        _connection.SentSome();
    }

    private bool TakeMore()
    {
        bool quiescent = false;
        lock (_gate)
        {
            if (!_filling.IsEmpty && !_closed)
            {
                Swap();
                return true;
            }

            _sending.Ring.TryReleaseWhenEmpty();
            _flushing = false;
            if (_closed)
            {
                DisposeRings();
                quiescent = true;
            }
            else
            {
                ShutdownIfAsked();
            }
        }

        if (quiescent)
        {
            ReleaseBorrowed();
            _connection.OutputQuiescent();
        }

        return false;
    }

    private void Swap()
    {
        (_filling, _sending) = (_sending, _filling);

        _burst.Saw(_sending.Ring.Length);
        _filling.Ring.TryReleaseWhenEmpty();
    }

    private sealed class SendArgs(SocketOutput output) : SocketAsyncEventArgs(true)
    {
        protected override void OnCompleted(SocketAsyncEventArgs e)
        {
            if (output.Completed())
            {
                output.Send();
            }
        }
    }
}
