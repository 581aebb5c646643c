using FastPort.Connections;
using FastPort.Sessions.Logging;
using FastPort.Telemetry.Counters;

namespace FastPort.Sessions.Receiving;

/// <summary>
/// Adds a session's own counters to the shared ones, at each tick and once at the end, so that messages do not touch shared counters.
/// Belongs to the loop.
/// </summary>
internal sealed class TrafficMeter(Connection connection, FrameProtocol protocol, SessionCounters counters)
{
    // A peer that reads too slowly is named every 10 s, not at every tick.
    private const long LineEveryMilliseconds = 10_000;

    private long _messagesIn;
    private long _messagesOut;
    private long _bytesIn;
    private long _bytesOut;
    private long _dropped;
    private long _droppedLogged;
    private long _nextLine = long.MinValue;

    /// <param name="isLast">Whether the session has ended.</param>
    public void Report(bool isLast = false)
    {
        long messagesIn = protocol.MessagesReceived, messagesOut = protocol.Output.MessagesSent;
        long bytesIn = connection.BytesReceived, bytesOut = connection.BytesSent;
        long dropped = protocol.Output.QueueLimit.MessagesDropped;
        if (bytesIn != _bytesIn || messagesIn != _messagesIn)
        {
            counters.Received(messagesIn - _messagesIn, bytesIn - _bytesIn);
        }

        if (bytesOut != _bytesOut || messagesOut != _messagesOut)
        {
            counters.Sent(messagesOut - _messagesOut, bytesOut - _bytesOut);
        }

        if (dropped != _dropped)
        {
            counters.FramesDropped(FrameDrop.SendQueueFull, dropped - _dropped);
        }

        if (dropped != _droppedLogged)
        {
            LogDropped(dropped, isLast);
        }

        (_messagesIn, _messagesOut, _bytesIn, _bytesOut, _dropped) = (messagesIn, messagesOut, bytesIn, bytesOut, dropped);
    }

    private void LogDropped(long dropped, bool isLast)
    {
        SessionSettings settings = protocol.Settings;
        long now = settings.Clock.NowMilliseconds;
        if (now >= _nextLine || isLast)
        {
            _nextLine = now + LineEveryMilliseconds;
            SessionLog.Dropped(settings.Logger, protocol.Session, dropped - _droppedLogged, connection.PendingBytes);
            _droppedLogged = dropped;
        }
    }
}
