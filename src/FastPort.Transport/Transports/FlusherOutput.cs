using System.Diagnostics;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// A send side with one flusher at a time: the thread that takes ring after ring from the queue and sends it under no lock, so that writers
/// never wait for the kernel. Concurrent writers rely on it. The ring being sent belongs to the flusher.
/// </summary>
internal abstract class FlusherOutput(TransportConnection connection, ConnectionSettings settings) : SendQueue(connection, settings)
{
    // Guarded by the gate: whether a flusher is active, whether the stream's end was sent, and whether the loop has ended the connection,
    // in which case the last flusher has everything released.
    private bool _flushing;
    private bool _isDown;
    private bool _ended;

    /// <summary>The ring being sent; not null while a flusher is active. Belongs to the flusher.</summary>
    protected SendRing? Sending { get; private set; }

    /// <summary>Sends what was written, unless a flusher does so.</summary>
    public abstract void Flush();

    /// <summary>Closes the send side and finishes the connection; false if the flusher has to. Called once, by the loop.</summary>
    public bool TryEnd()
    {
        lock (Gate)
        {
            Close();
            _ended = true;
            if (_flushing)
            {
                return false;
            }
        }

        Release();
        return true;
    }

    protected override void Ending() => Flush();

    /// <summary>True if this thread is the flusher now: there is a ring to send.</summary>
    protected bool TryBecomeFlusher()
    {
        lock (Gate)
        {
            if (_flushing || IsClosed)
            {
                return false;
            }

            Sending ??= Next();
            _flushing = Sending is not null;
            ShutDownWhenEnding();
            return _flushing;
        }
    }

    /// <summary>False if there is nothing more to send, or not now: this thread is no longer the flusher.</summary>
    protected bool TryTakeNext()
    {
        bool isOver;
        lock (Gate)
        {
            // A ring with bytes left is the ring in which the flusher has stopped.
            if (!IsClosed && Sending!.IsEmpty)
            {
                Return(Sending);
                Sending = Next();
                if (Sending is not null)
                {
                    return true;
                }
            }

            _flushing = false;
            isOver = _ended;
            ShutDownWhenEnding();
        }

        if (isOver)
        {
            // Not on this thread, which may be a writer's and hold locks: the next steps call the protocol.
            ThreadPool.UnsafeQueueUserWorkItem(static output => output.Release(), this, preferLocal: false);
        }

        return false;
    }

    private void Release()
    {
        DropWaiting(Sending);
        Connection.Finish();
    }

    // Under the gate. The next ring to send; after the last one, the ring with the last frame.
    private SendRing? Next() => Take() ?? (IsOver && TryEndFrames() ? Take() : null);

    private bool IsOver => IsEnding && !HasWriter && !_isDown;

    // Under the gate.
    private void ShutDownWhenEnding()
    {
        Debug.Assert(Gate.IsHeldByCurrentThread);
        if (Sending is null && IsOver)
        {
            _isDown = true;
            Connection.ShutDownOutput();
        }
    }
}
