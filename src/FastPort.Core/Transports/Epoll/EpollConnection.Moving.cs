using System.Diagnostics;
using FastPort.Transports.Epoll.Loop;

namespace FastPort.Transports.Epoll;

/// <content>
/// The move from the newcomers' loop to one of the main loops: once, when the protocol has found the peer good. The old loop stops watching
/// the socket and gives everything of the connection to the new one, which watches it. From then on the old loop is one of the other
/// threads. Epoll reports what the socket has to the new loop again, so no event is lost.
/// <para>
/// Between the two no other thread touches the socket or posts the connection: the old loop takes the sender's role, which the new one
/// releases, and the bits of <see cref="_requested"/> are never all clear, so that the connection stays in one inbox at a time.
/// </para>
/// </content>
internal sealed partial class EpollConnection
{
    internal override bool LeaveNewcomers()
    {
        Debug.Assert(IsOnLoop, "The protocol calls this on its loop.");
        if (!_loop.ServesNewcomers)
        {
            return false;
        }

        // Not here: the protocol is on the stack and may write on.
        Set(ReadFlags.Moves);
        Request(ContinueRequested);
        return true;
    }

    // On the old loop, called by its inbox. False if the connection ends, or while another thread sends: that thread then posts a flush,
    // which leads here again.
    private bool TryMove()
    {
        if (Is(LifeFlags.Ended) || !_output.TryHold())
        {
            return false;
        }

        EpollLoop from = _loop;
        EpollLoop to = _group.Acquire(Settings.Logger);
        Set(ReadFlags.Moves | ReadFlags.FlushQueued, false);
        from.Unwatch(Descriptor);
        Interlocked.Or(ref _requested, MovedRequested);

        // The last step: the new loop may call IsOnLoop, and write, from now on.
        _loop = to;
        to.Post(this);
        _group.Release(from);
        return true;
    }

    // On the new loop.
    private void Arrive()
    {
        Watch();
        _output.EndHold();
    }
}
