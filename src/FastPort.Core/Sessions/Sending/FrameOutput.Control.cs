using FastPort.Framing;

namespace FastPort.Sessions.Sending;

/// <content>One-way messages of the framework that no policy may drop.</content>
internal sealed partial class FrameOutput
{
    /// <summary>
    /// Sends a short one-way message regardless of the bytes that wait: for what must not get lost and what other limits bound. A session
    /// whose connection takes it no more is disconnected. Not sent after a Goodbye.
    /// </summary>
    public void SendControl<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        if (Write(type, FrameFlags.OneWay, 0, 0, in body, body.Size, FrameKind.OneWay) == SendStatus.Full)
        {
            QueueLimit.DisconnectSlowConsumer();
        }

        FlushUnlessDeferred();
    }
}
