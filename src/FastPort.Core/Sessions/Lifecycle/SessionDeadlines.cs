using FastPort.Connections;

namespace FastPort.Sessions.Lifecycle;

/// <summary>What a deadline requires.</summary>
internal enum DeadlineAction
{
    None,
    Close,
    Ping,

    /// <summary>The identity has ended: close in order.</summary>
    Expire,
}

/// <summary>
/// Handshake, identity, frame, idle and heartbeat deadlines of one session, checked on the loop at its ticks. While this side itself has
/// paused reading, only the first two are checked; the first is not while a rate holds the session. Volatile fields:
/// <see cref="Identified"/> may run, and <see cref="UnfinishedSince"/> may be read, on another thread.
/// </summary>
internal sealed class SessionDeadlines(SessionOptions options, ConnectionClock clock)
{
    // How often the wall clock is looked at where an identity has an end: it may leap, as after a suspended machine.
    private const long WallClockPeriod = 10_000;

    private Connection _connection = null!;
    private long _handshakeBy = -1;

    // While the Hello is due: since when a rate holds the session; -1 if none does.
    private long _rateHoldsSince = -1;
    private long _identityEnds = ConnectionClock.Never;
    private DateTimeOffset _identityEndsAt;
    private long _frameSince = -1;
    private long _framePosition = -1;

    // While that frame was the first: how long this side did not read, and since when it does not.
    private long _heldFor;
    private long _heldSince = -1;
    private long _lastBytes;
    private long _silentSince;
    private bool _pinged;
    private long _pingedAt;
    private volatile bool _paused;
    private volatile bool _inputEnded;
    private volatile int _heartbeatMilliseconds;

    public void Start(Connection connection, bool handshakeRequired)
    {
        _connection = connection;
        long now = clock.PreciseMilliseconds;
        _silentSince = now;
        if (handshakeRequired && options.HandshakeTimeout > TimeSpan.Zero)
        {
            Volatile.Write(ref _handshakeBy, now + (long)options.HandshakeTimeout.TotalMilliseconds);
        }
    }

    /// <summary>The peer has said Hello, or has welcomed this side: ends the handshake deadline and begins heartbeats.</summary>
    public void Identified(TimeSpan heartbeat)
    {
        Volatile.Write(ref _handshakeBy, -1);
        _heartbeatMilliseconds = (int)heartbeat.TotalMilliseconds;

        // The connecting side calls this off the loop, possibly after the tick that the Welcome's burst has requested.
        _connection.RequestTick();
    }

    /// <summary>
    /// Records whether a rate holds the session. The time for the Hello stands still meanwhile: the Hello may be what is not read. Loop
    /// only.
    /// </summary>
    public void RateHolds(bool holds)
    {
        if (_handshakeBy < 0)
        {
            return;
        }

        long now = clock.PreciseMilliseconds;
        if (_rateHoldsSince >= 0)
        {
            Volatile.Write(ref _handshakeBy, _handshakeBy + now - _rateHoldsSince);
        }

        _rateHoldsSince = holds ? now : -1;
    }

    /// <summary>The peer's identity ends at this time. Loop only.</summary>
    public void IdentityEndsAt(DateTimeOffset time)
    {
        _identityEndsAt = time;
        _identityEnds = clock.PreciseMilliseconds + (long)Math.Ceiling((time - clock.Time.GetUtcNow()).TotalMilliseconds);
    }

    /// <summary>Records whether the first frame in the ring waits for a peer, and since when. Loop only.</summary>
    /// <param name="input">The receive ring.</param>
    /// <param name="paused">Whether this side has paused reading.</param>
    /// <param name="forPeer">
    /// Whether it is paused for a peer: this one is over its rate or does not read, or another one has no room for what this one sends.
    /// </param>
    public void AfterBurst(ArrayPoolCircularBuffer input, bool paused, bool forPeer)
    {
        _paused = paused;
        if (input.IsEmpty || (paused && !forPeer))
        {
            Volatile.Write(ref _frameSince, -1);
            _framePosition = _heldSince = -1;
            return;
        }

        if (_framePosition != input.ReadPosition)
        {
            _framePosition = input.ReadPosition;
            _heldFor = 0;
            _heldSince = -1;
            Volatile.Write(ref _frameSince, clock.PreciseMilliseconds);
        }

        if (paused && _heldSince < 0)
        {
            _heldSince = clock.PreciseMilliseconds;
        }
        else if (!paused && _heldSince >= 0)
        {
            _heldFor += clock.PreciseMilliseconds - _heldSince;
            _heldSince = -1;
        }
    }

    /// <summary>
    /// Since when the first frame in the ring waits for a peer, in milliseconds of the clock: it is incomplete, or the session is paused
    /// for a peer. -1 if there is none, or it waits for this side. Any thread.
    /// </summary>
    public long UnfinishedSince => Volatile.Read(ref _frameSince);

    /// <summary>
    /// The peer has ended its side: its silence while it waits for replies is no timeout. A Ping per interval finds out that it is gone.
    /// </summary>
    public void InputEnded() => _inputEnded = true;

    /// <summary>Checks the deadlines; on the loop, at its ticks. A burst, which may set an earlier deadline, requests a tick.</summary>
    /// <param name="now">The clock's reading, in milliseconds.</param>
    /// <param name="leaving">
    /// Whether this side is a client that says Goodbye: it sends no heartbeats any more, and expects no answers to them. The server's keep
    /// both sides from becoming idle while requests are in flight.
    /// </param>
    /// <param name="reason">The reason to close; null unless the result is Close.</param>
    /// <param name="next">When to check again, in milliseconds of the clock.</param>
    public DeadlineAction Check(long now, bool leaving, out CloseReason? reason, out long next)
    {
        reason = null;
        next = ConnectionClock.NextTick;
        long bytes = _connection.BytesReceived;
        if (bytes != _lastBytes || _paused)
        {
            _lastBytes = bytes;
            _silentSince = now;
            _pinged = false;
        }

        long handshakeBy = Volatile.Read(ref _handshakeBy);
        if (handshakeBy >= 0 && _rateHoldsSince < 0 && now >= handshakeBy)
        {
            if (!_paused && IsBehind(ref next))
            {
                return DeadlineAction.None;
            }

            reason = new CloseReason(
                CloseKind.HandshakeTimeout, $"No valid Hello was received within {options.HandshakeTimeout.TotalSeconds:0.###} s.");
            return DeadlineAction.Close;
        }

        int interval = leaving ? 0 : _heartbeatMilliseconds;
        bool hasEnd = _identityEnds != ConnectionClock.Never;
        if (hasEnd && (now >= _identityEnds || clock.Time.GetUtcNow() >= _identityEndsAt))
        {
            _identityEnds = ConnectionClock.Never;
            reason = new CloseReason(CloseKind.Unauthenticated, "The token has expired; connect again with a new one.");
            return DeadlineAction.Expire;
        }

        if (_paused)
        {
            // The peer's Pings stay unread while reading is paused. A Ping from this side, once per interval, shows the peer that this side
            // is alive.
            if (interval > 0 && now - _pingedAt >= interval)
            {
                _pingedAt = now;
                return DeadlineAction.Ping;
            }

            return DeadlineAction.None;
        }

        next = hasEnd ? Math.Min(_identityEnds, now + WallClockPeriod) : ConnectionClock.Never;
        next = handshakeBy >= 0 ? Math.Min(handshakeBy, next) : next;
        long frameSince = Volatile.Read(ref _frameSince);
        if (!_inputEnded && frameSince >= 0 && Passed(options.FrameTimeout, frameSince + _heldFor, now, ref next))
        {
            if (IsBehind(ref next))
            {
                return DeadlineAction.None;
            }

            reason = new CloseReason(
                CloseKind.MessageTimeout, $"A frame was not complete within {options.FrameTimeout.TotalSeconds:0.###} s.");
            return DeadlineAction.Close;
        }

        if (!_inputEnded && Passed(options.IdleTimeout, _silentSince, now, ref next))
        {
            if (IsBehind(ref next))
            {
                return DeadlineAction.None;
            }

            reason = new CloseReason(CloseKind.IdleTimeout, $"Nothing was received for {options.IdleTimeout.TotalSeconds:0.###} s.");
            return DeadlineAction.Close;
        }

        // After a Ping the interval counts from the Ping. A process that was suspended sends it late, and the peer still has its full time.
        if (!Passed(TimeSpan.FromMilliseconds(interval), _pinged ? _pingedAt : _silentSince, now, ref next))
        {
            return DeadlineAction.None;
        }

        // A peer that has ended its side answers none, but to one that is gone they cannot be sent.
        if (_pinged && !_inputEnded)
        {
            if (IsBehind(ref next))
            {
                return DeadlineAction.None;
            }

            reason = new CloseReason(
                CloseKind.HeartbeatTimeout, $"No byte was received for {(now - _silentSince) / 1000.0:0.###} s although a Ping was sent.");
            return DeadlineAction.Close;
        }

        _pinged = true;
        _pingedAt = now;
        next = ConnectionClock.NextTick;
        return DeadlineAction.Ping;
    }

    // Whether this side has still to read what the peer has sent, as after it was suspended: then the next tick judges.
    private bool IsBehind(ref long next)
    {
        bool isBehind = _connection.HasUnreadInput;
        next = isBehind ? ConnectionClock.NextTick : next;
        return isBehind;
    }

    // A deadline that has not passed may be the next one.
    private static bool Passed(TimeSpan limit, long since, long now, ref long next)
    {
        if (limit <= TimeSpan.Zero)
        {
            return false;
        }

        long at = since + (long)Math.Ceiling(limit.TotalMilliseconds);
        next = Math.Min(next, at);
        return now >= at;
    }
}
