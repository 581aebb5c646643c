using System.Diagnostics;
using FastPort.Framing;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Receiving;
using FastPort.Sessions.Tracing;

namespace FastPort.Dispatch;

/// <summary>
/// A request whose handler has returned and whose answer comes later, from another thread. It counts as work in progress until then, so
/// that a session that ends in order answers it. <see cref="Complete"/> is called once, on any thread.
/// </summary>
/// <param name="protocol">The session.</param>
/// <param name="header">The request's header.</param>
/// <param name="received">When the request was received, in nanoseconds of the monotonic clock.</param>
internal abstract class DetachedRequest(FrameProtocol protocol, in FrameHeader header, long received)
{
    private readonly FrameHeader _header = header;

    // The request's activity, which ends with the answer.
    private readonly Activity? _activity = Traces.IsOn ? Activity.Current : null;

    /// <summary>
    /// Arranges for <see cref="Complete"/> to be called when the answer is available, which may be now. Called once the work is counted.
    /// </summary>
    public abstract void Begin();

    /// <summary>Writes the answer. If the session has ended in the meantime, no caller waits for it.</summary>
    protected void Complete()
    {
        try
        {
            Answer();
        }
        catch (Exception e)
        {
            SessionLog.HandlerFailed(protocol.Settings.Logger, protocol.Session, $"message type 0x{_header.Type:X4}", e);
            Fail(ErrorCode.Internal, RequestDispatcher.HandlerFailedText);
        }

        protocol.Output.FlushUnlessDeferred();
        Traces.Stop(_activity, protocol);
        protocol.Detached.End();
    }

    /// <summary>Answers with <see cref="Reply"/> or <see cref="Fail"/>. An exception before that is answered as Internal.</summary>
    protected abstract void Answer();

    protected void Reply() => protocol.Output.Reply(_header, received, default(EmptyBody));

    protected void Fail(ErrorCode code, string message)
    {
        Traces.SetFailed(_activity, code.ToString());
        protocol.Output.Error(_header, received, code, message);
    }
}
