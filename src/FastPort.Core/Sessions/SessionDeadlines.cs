using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Framing;

namespace FastPort.Sessions;

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

    /// <summary>The peer has said Hello: it is known and heartbeats begin.</summary>
    public void Identified(TimeSpan heartbeat)
    {
        Volatile.Write(ref _handshakeBy, -1);
        _heartbeatMilliseconds = (int)heartbeat.TotalMilliseconds;
    }

    /// <summary>Loop only: notes whether a frame is unfinished, and since when that very frame is.</summary>
    public void AfterBurst(ArrayPoolCircularBuffer input, bool paused)
    {
        _paused = paused;
        if (input.IsEmpty || paused)
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

    /// <summary>The peer has ended its side: it owes nothing any more, and its silence while it waits for answers means nothing.</summary>
    public void InputEnded() => _inputEnded = true;

    /// <summary>Coarse clock only.</summary>
    public DeadlineAction Check(long now, out CloseReason? reason)
    {
        reason = null;
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
                CloseKind.HandshakeTimeout, $"No valid Hello came within {options.HandshakeTimeout.TotalSeconds:0.###} s.", ErrorCode.Unauthenticated);
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

        if (_inputEnded)
        {
            return DeadlineAction.None;
        }

        long frameSince = Volatile.Read(ref _frameSince);
        if (frameSince >= 0 && Passed(options.FrameTimeout, now - frameSince))
        {
            reason = new CloseReason(
                CloseKind.FrameTimeout, $"A frame begun was not complete within {options.FrameTimeout.TotalSeconds:0.###} s.", ErrorCode.Timeout);
            return DeadlineAction.Close;
        }

        long silent = now - _silentSince;
        if (Passed(options.IdleTimeout, silent))
        {
            reason = new CloseReason(CloseKind.IdleTimeout, $"Nothing was received for {options.IdleTimeout.TotalSeconds:0.###} s.", ErrorCode.Timeout);
            return DeadlineAction.Close;
        }

        int heartbeat = _heartbeatMilliseconds;
        if (heartbeat > 0 && silent >= heartbeat)
        {
            // Counted from the Ping, which a process that was suspended sends late: the peer has its full time all the same.
            if (_pinged && now - _pingedAt >= heartbeat)
            {
                reason = new CloseReason(
                    CloseKind.HeartbeatTimeout, $"No byte came for {silent / 1000.0:0.###} s although a Ping was sent.", ErrorCode.Timeout);
                return DeadlineAction.Close;
            }

            if (!_pinged)
            {
                _pinged = true;
                _pingedAt = now;
                return DeadlineAction.Ping;
            }
        }

        return DeadlineAction.None;
    }

    private static bool Passed(TimeSpan limit, long milliseconds) => limit > TimeSpan.Zero && milliseconds >= limit.TotalMilliseconds;
}
