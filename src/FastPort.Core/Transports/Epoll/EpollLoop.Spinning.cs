namespace FastPort.Transports.Epoll;

/// <content>
/// Spinning. While one connection is all the work the loop polls its socket: a receive that finds nothing costs about what a wait does that finds nothing, and one that
/// finds something saves the wait, and its peer's kernel the entry in epoll's list. Everything else is looked for now and then.
/// </content>
internal sealed partial class EpollLoop
{
    // What others wait longer for at worst: so many messages of the polled connection, once, as it is polled no more then.
    private const int PollsPerLook = 7;

    // Epoll reports none of its input meanwhile.
    private EpollConnection? _polled;
    private int _polls;
    private long _spins;

    /// <summary>How often it has spun before it slept, or instead.</summary>
    public long Spins => Volatile.Read(ref _spins);

    /// <summary>Whether a connection is polled; for the loop.</summary>
    public bool IsPolling => _polled is not null;

    // True where there is work: what epoll reports, what others have posted, or what the polled connection has written.
    private bool Spin(out int found)
    {
        found = 0;
        _spins++;
        PreparePolling();
        do
        {
            for (; _polled is not null && _polls < PollsPerLook; _polls++)
            {
                if (_polled.TryPoll() || !_inbox.IsEmpty)
                {
                    _polls++;
                    return true;
                }
            }

            _polls = 0;
            found = _events.Wait(_epoll, 0);
            if (found != 0 || !_inbox.IsEmpty)
            {
                return true;
            }
        }
        while (_waiting.GoOn());
        return false;
    }

    // Without waiting.
    private int Look()
    {
        if (_polled is { CanBePolled: true } polled)
        {
            polled.TryPoll();
        }

        return _events.Wait(_epoll, 0);
    }

    private void PreparePolling()
    {
        if (_polled is { CanBePolled: false })
        {
            EndPolling();
        }

        if (_polled is null && _last is not null && _waitsForLast >= _options.WaitsBeforeDirect)
        {
            _waitsForLast = 0;
            _polled = _last.TryBeginPolling() ? _last : null;
        }
    }

    private void EndPolling()
    {
        EpollConnection? polled = _polled;
        _polled = null;
        polled?.EndPolling();
    }
}
