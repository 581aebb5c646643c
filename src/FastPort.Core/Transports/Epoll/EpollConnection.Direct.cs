namespace FastPort.Transports.Epoll;

/// <content>
/// While the loop's reader receives. The socket blocks then, and every call but the reader's says that it does not want to; epoll reports only that the socket
/// takes bytes again, and errors. TCP only: watched for that, a Unix socket is reported with every read of the peer's, so the loop's own thread would be woken for each message, too.
/// </content>
internal sealed partial class EpollConnection
{
    private const uint WatchedDirectly = Libc.EpollOut | Libc.EpollEdge;

    // A connection that then falls silent holds that much, one for each loop.
    private const int SmallReceive = 4096;

    // The reader sleeps in the receive, or is about to: the input is its own. Changed by whose turn it is.
    private bool _isReaders;
    private bool _readerIsWoken;
    private int _askedDirectly;
    private int _receivedDirectly;

    /// <summary>Whether more input is all that is to be expected.</summary>
    public bool CanBeDirect =>
        IsTcp && !_ended && !_lost && !_failed && !_parked && !_held && !_readable && !_peerEnded && !_inputEnded && _input.IsEmpty && !IsClosing && !IsAborted;

    /// <summary>From now on the reader receives; on the loop. False where it may not.</summary>
    public bool TryBeginDirect()
    {
        if (!_watched || !CanBeDirect || !TryPrepare())
        {
            return false;
        }

        _isReaders = _loop.TryWatchFor(Descriptor, WatchedDirectly, _number) && NativeSocket.TrySetBlocking(Descriptor, true);
        if (!_isReaders)
        {
            EndDirect();
        }

        return _isReaders;
    }

    /// <summary>As before, after <see cref="ReceivedDirectly"/>; by the reader, whose turn it is.</summary>
    public bool TryGoOnDirectly() => _isReaders = TryPrepare();

    /// <summary>Sleeps until something comes; by the reader, whose turn it is not. Returns the number of bytes, 0 at the end of the stream, or an error's number, negative.</summary>
    public unsafe int ReceiveDirectly()
    {
        // There is room: see TryPrepare.
        Span<byte> span = _input.GetWritableSpan(1);
        _askedDirectly = span.Length;
        while (true)
        {
            nint count;
            fixed (byte* start = span)
            {
                count = Libc.Receive(Descriptor, start, span.Length, 0);
            }

            if (count >= 0)
            {
                return (int)count;
            }

            int error = Errno.Last;
            if (error != Errno.Interrupted)
            {
                return -error;
            }
        }
    }

    /// <summary>Takes what <see cref="ReceiveDirectly"/> returned; on the loop, by either thread.</summary>
    public void ReceivedDirectly(int received)
    {
        _isReaders = false;
        _receivedDirectly = received;
        if (received > 0)
        {
            // Says nothing about the size of other receives; a full one may have left something.
            Received(received, int.MaxValue);
            _readable |= received == _askedDirectly;
        }
        else if (received == 0)
        {
            _inputEnded = true;
        }
        else if (received != -Errno.Again)
        {
            Lose(-received);
        }

        Pump();
    }

    /// <summary>The loop watches for everything again; on the loop, by either thread.</summary>
    public void EndDirect()
    {
        _isReaders = false;
        _readerIsWoken = false;
        if (_ended)
        {
            return;
        }

        _input.TryReleaseWhenEmpty();
        NativeSocket.TrySetBlocking(Descriptor, false);
        WatchAgain();
    }

    // Makes room while it can still be dealt with that there is none.
    private bool TryPrepare()
    {
        try
        {
            _ = Writable(_receivedDirectly < SmallReceive ? SmallReceive : _receiveSize);
            return true;
        }
        catch (Exception e)
        {
            Fault(e);
            Pump();
            return false;
        }
    }

    // The reader may sleep for good: where that must not be, its receive is made to return. That tells the peer nothing, and raises an event here.
    private void WakeReader()
    {
        if ((IsAborted || _lost) && !_readerIsWoken)
        {
            _readerIsWoken = true;
            _ = Libc.Shutdown(Descriptor, Libc.ShutRead);
        }
    }
}
