using FastPort.Connections;
using FastPort.Telemetry.Counters;

namespace FastPort.Sessions.Receiving;

/// <summary>
/// Adds a session's own counters to the shared ones, at each tick and once at the end, so that messages do not touch shared counters.
/// Belongs to the loop.
/// </summary>
internal sealed class TrafficMeter(Connection connection, FrameProtocol protocol, ServerCounters counters)
{
    private long _messagesIn;
    private long _messagesOut;
    private long _bytesIn;
    private long _bytesOut;
    private long _dropped;

    public void Report()
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

        (_messagesIn, _messagesOut, _bytesIn, _bytesOut, _dropped) = (messagesIn, messagesOut, bytesIn, bytesOut, dropped);
    }
}
