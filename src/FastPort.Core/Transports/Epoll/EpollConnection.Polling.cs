namespace FastPort.Transports.Epoll;

/// <content>While the loop spins for this connection. All of it is the loop's.</content>
internal sealed partial class EpollConnection
{
    private bool _isPolled;

    /// <summary>Whether a receive may find something that nothing else would tell.</summary>
    public bool CanBePolled =>
        !_ended && !_lost && !_failed && !_parked && !_held && !_readable && !_peerEnded && !_inputEnded && !IsClosing && !IsAborted;

    /// <summary>From now on <see cref="TryPoll"/> alone tells of input. False where it may not.</summary>
    public bool TryBeginPolling()
    {
        _isPolled = _watched && CanBePolled;
        return _isPolled;
    }

    /// <summary>Receives and handles what is there; false where that is nothing. Only while it <see cref="CanBePolled"/>.</summary>
    public bool TryPoll()
    {
        try
        {
            if (!Receive() && !_lost)
            {
                return false;
            }
        }
        catch (Exception e)
        {
            // No memory to receive into.
            Fault(e);
        }

        Pump();
        return true;
    }

    /// <summary>Epoll tells of input again, also of what has come already.</summary>
    public void EndPolling()
    {
        _isPolled = false;
        if (_ended)
        {
            return;
        }

        if (!_held)
        {
            Rest();
        }

    }

    private void WatchAgain()
    {
        if (!_sender.TryWatchAgain())
        {
            // The rest in a round: the loop may be about to sleep.
            Lose(Errno.Last);
            Ask(AskResume);
        }
    }
}
