using System.Buffers;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Logging;
using FastPort.Sessions.Lifecycle;
using FastPort.Sessions.Sending;

namespace FastPort.Sessions.Receiving;

/// <summary>Handles the control messages other than Hello: Ping, Goodbye and Cancel. Runs on the loop.</summary>
internal sealed class ControlMessages(FrameProtocol protocol, Replies replies, SessionShutdown shutdown, SessionDispatcher dispatcher)
{
    public void OnPing(in FrameHeader header, long received)
    {
        if (!header.IsOneWay)
        {
            replies.Reply(header, received, default(EmptyBody));
        }
    }

    public void OnGoodbye(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        if (!CodeBody.TryRead(body.ToArray(), out CodeBody goodbye))
        {
            replies.Refuse(header, received, ErrorCode.MalformedBody, "The body is not a Goodbye message.");
            return;
        }

        if (!header.IsOneWay)
        {
            replies.Reply(header, received, default(EmptyBody));
        }

        string text = protocol.IsPeerKnown ? $": {PeerText.Escape(goodbye.Text)}" : ".";
        var reason = new CloseReason(CloseKind.PeerClosed, $"The peer said Goodbye ({goodbye.Code}){text}", (uint)goodbye.Code);
        protocol.Settings.Host.OnGoodbye(protocol.Session, reason);
        shutdown.PeerSaidGoodbye(reason);
    }

    public void OnCancel(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        if (!CancelBody.TryRead(body.ToArray(), out CancelBody cancel))
        {
            replies.Refuse(header, received, ErrorCode.MalformedBody, "The body is not a Cancel message.");
            return;
        }

        if (!header.IsOneWay)
        {
            replies.Reply(header, received, default(EmptyBody));
        }

        dispatcher.Cancel(cancel.Correlation);
    }
}
