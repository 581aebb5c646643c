using FastPort.Connections;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Streams;
using FastPort.Telemetry;

namespace FastPort.Sessions.Receiving;

/// <summary>
/// Adds a session's own counters to the shared ones, at each tick and once at the end, so that messages do not touch shared _counters.
/// Belongs to the loop.
/// </summary>
internal sealed class TrafficMeter(SessionSettings settings, Session session)
{
    // A peer that reads too slowly is named every 10 s, not at every tick.
    private const long LineEveryMilliseconds = 10_000;

    private readonly Connection _connection = session.Connection;
    private readonly SessionCounters _counters = settings.Telemetry.Counters;
    private long _messagesIn;
    private long _messagesOut;
    private long _bytesIn;
    private long _bytesOut;
    private long _dropped;
    private long _itemsIn;
    private long _itemsOut;
    private long _stalls;
    private long _droppedLogged;
    private long _nextLine = long.MinValue;

    /// <param name="isLast">Whether the session has ended.</param>
    public void Report(bool isLast = false)
    {
        long messagesIn = session.MessagesReceived, messagesOut = session.MessagesSent;
        long bytesIn = _connection.BytesReceived, bytesOut = _connection.BytesSent;
        long dropped = session.MessagesDropped;
        if (bytesIn != _bytesIn || messagesIn != _messagesIn)
        {
            _counters.Received(messagesIn - _messagesIn, bytesIn - _bytesIn);
        }

        if (bytesOut != _bytesOut || messagesOut != _messagesOut)
        {
            _counters.Sent(messagesOut - _messagesOut, bytesOut - _bytesOut);
        }

        if (dropped != _dropped)
        {
            _counters.FramesDropped(FrameDrop.SendQueueFull, dropped - _dropped);
        }

        if (dropped != _droppedLogged)
        {
            LogDropped(dropped, isLast);
        }

        StreamCounts streams = session.Protocol.Output.Streams;
        long itemsIn = streams.ItemsIn, itemsOut = streams.ItemsOut, stalls = streams.Stalls;
        if (itemsIn != _itemsIn || itemsOut != _itemsOut || stalls != _stalls)
        {
            _counters.Streamed(itemsIn - _itemsIn, itemsOut - _itemsOut, stalls - _stalls);
            (_itemsIn, _itemsOut, _stalls) = (itemsIn, itemsOut, stalls);
        }

        (_messagesIn, _messagesOut, _bytesIn, _bytesOut, _dropped) = (messagesIn, messagesOut, bytesIn, bytesOut, dropped);
    }

    private void LogDropped(long dropped, bool isLast)
    {
        long now = settings.Clock.NowMilliseconds;
        if (now >= _nextLine || isLast)
        {
            _nextLine = now + LineEveryMilliseconds;
            SessionLog.Dropped(settings.Logger, session, dropped - _droppedLogged, _connection.PendingBytes);
            _droppedLogged = dropped;
        }
    }
}
