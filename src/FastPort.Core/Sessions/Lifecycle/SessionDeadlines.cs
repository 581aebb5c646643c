using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Sessions.Lifecycle;

/// <summary>What the deadlines ask for.</summary>
internal enum DeadlineAction
{
    None,
    Close,
    Ping,
}

/// <summary>
/// Handshake, frame, idle and heartbeat deadlines of one session. The loop notes what happened (volatile fields), the coarse clock's thread
/// judges. While this side has itself stopped reading, silence is its own doing and no deadline about the peer runs.
/// </summary>
internal sealed class SessionDeadlines(SessionOptions options, ConnectionClock clock)
{
    private Connection _connection = null!;
    private long _handshakeBy = -1;
    private long _frameSince = -1;
    private long _framePosition = -1;
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

    /// <summary>The peer has said Hello, or welcomed this side: it is known and heartbeats begin.</summary>
    public void Identified(TimeSpan heartbeat)
    {
        Volatile.Write(ref _handshakeBy, -1);
        _heartbeatMilliseconds = (int)heartbeat.TotalMilliseconds;

        // The connecting side learns of its welcome off the loop, perhaps after the tick that the Welcome's burst has asked for.
        _connection.RequestTick();
    }

    /// <summary>Loop only: notes whether a frame is unfinished, and since when that very frame is.</summary>
    public void AfterBurst(ArrayPoolCircularBuffer input, bool paused)
    {
        _paused = paused;
        if (input.IsEmpty)
        {
            Volatile.Write(ref _frameSince, -1);
            _framePosition = -1;
            return;
        }

        if (paused)
        {
            Volatile.Write(ref _frameSince, -1);
            _framePosition = -1;
        }
        else if (_framePosition != input.ReadPosition)
        {
            _framePosition = input.ReadPosition;
            Volatile.Write(ref _frameSince, clock.PreciseMilliseconds);
        }
    }

    /// <summary>
    /// Any thread: since when a frame is unfinished, in milliseconds of the clock; -1 where none is, as while the session is paused.
    /// </summary>
    public long UnfinishedSince => Volatile.Read(ref _frameSince);

    /// <summary>The peer has ended its side: it owes nothing any more, and its silence while it waits for answers means nothing.</summary>
    public void InputEnded() => _inputEnded = true;

    /// <summary>Coarse clock only. A burst, which may set an earlier deadline, asks for a tick of its own.</summary>
    /// <param name="now">The clock's reading.</param>
    /// <param name="reason">Why to close, where that is to be done.</param>
    /// <param name="next">When to check again.</param>
    public DeadlineAction Check(long now, out CloseReason? reason, out long next)
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
        if (handshakeBy >= 0 && now >= handshakeBy)
        {
            reason = new CloseReason(
                CloseKind.HandshakeTimeout, $"No valid Hello came within {options.HandshakeTimeout.TotalSeconds:0.###} s.");
            return DeadlineAction.Close;
        }

        if (_paused)
        {
            // The peer's Pings lie unread meanwhile: one of this side's now and then tells it that it is not talking to a dead one.
            int interval = _heartbeatMilliseconds;
            if (interval > 0 && now - _pingedAt >= interval)
            {
                _pingedAt = now;
                return DeadlineAction.Ping;
            }

            return DeadlineAction.None;
        }

        next = handshakeBy >= 0 ? handshakeBy : ConnectionClock.Never;
        if (_inputEnded)
        {
            return DeadlineAction.None;
        }

        long frameSince = Volatile.Read(ref _frameSince);
        if (frameSince >= 0 && Passed(options.FrameTimeout, frameSince, now, ref next))
        {
            reason = new CloseReason(
                CloseKind.MessageTimeout, $"A frame begun was not complete within {options.FrameTimeout.TotalSeconds:0.###} s.");
            return DeadlineAction.Close;
        }

        if (Passed(options.IdleTimeout, _silentSince, now, ref next))
        {
            reason = new CloseReason(CloseKind.IdleTimeout, $"Nothing was received for {options.IdleTimeout.TotalSeconds:0.###} s.");
            return DeadlineAction.Close;
        }

        // Counted from the Ping, once there is one, which a process that was suspended sends late: the peer has its full time all the same.
        var heartbeat = TimeSpan.FromMilliseconds(_heartbeatMilliseconds);
        if (!Passed(heartbeat, _pinged ? _pingedAt : _silentSince, now, ref next))
        {
            return DeadlineAction.None;
        }

        if (_pinged)
        {
            reason = new CloseReason(
                CloseKind.HeartbeatTimeout, $"No byte came for {(now - _silentSince) / 1000.0:0.###} s although a Ping was sent.");
            return DeadlineAction.Close;
        }

        _pinged = true;
        _pingedAt = now;
        next = ConnectionClock.NextTick;
        return DeadlineAction.Ping;
    }

    // Where it has not passed it may be the next to do so.
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
