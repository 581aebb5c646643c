using System.Buffers;
using FastPort.Framing;
using FastPort.Logging;
using FastPort.Sessions.Sending;

namespace FastPort.Sessions.Receiving;

/// <summary>Handles the control messages other than Hello: Ping, Goodbye and Cancel. Runs on the loop.</summary>
internal sealed class ControlMessages(SessionSettings settings, Session session, FrameOutput output, SessionDispatcher dispatcher)
{
    public void OnPing(in FrameHeader header, long received)
    {
        if (!header.IsOneWay)
        {
            output.Reply(header, received, default(EmptyBody));
        }
    }

    /// <summary>Reads and acknowledges a Goodbye. Returns the reason that the peer has given; null if its body is malformed.</summary>
    public CloseReason? OnGoodbye(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        if (!CodeBody.TryRead(body.ToArray(), out CodeBody goodbye))
        {
            output.Refuse(header, received, ErrorCode.MalformedBody, "The body is not a Goodbye message.");
            return null;
        }

        if (!header.IsOneWay)
        {
            output.Reply(header, received, default(EmptyBody));
        }

        string text = session.IsPeerKnown ? $": {PeerText.Escape(goodbye.Text)}" : ".";
        var reason = new CloseReason(CloseKind.PeerClosed, $"The peer said Goodbye ({goodbye.Code}){text}", (uint)goodbye.Code);
        settings.Host.OnGoodbye(session, reason);
        return reason;
    }

    public void OnCancel(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        if (!CancelBody.TryRead(body.ToArray(), out CancelBody cancel))
        {
            output.Refuse(header, received, ErrorCode.MalformedBody, "The body is not a Cancel message.");
            return;
        }

        if (!header.IsOneWay)
        {
            output.Reply(header, received, default(EmptyBody));
        }

        dispatcher.Cancel(cancel.Correlation);
    }
}
