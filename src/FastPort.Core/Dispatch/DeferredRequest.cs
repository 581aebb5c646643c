using System.Diagnostics;
using FastPort.Framing;
using FastPort.Sessions.Receiving;
using FastPort.Sessions.Tracing;

namespace FastPort.Dispatch;

/// <summary>
/// A request whose handler has returned and whose answer comes later, from another thread. It counts as work under way until then, so that
/// a session that ends in order answers it. <see cref="Complete"/> is called once, on any thread; the answer is written on the loop.
/// </summary>
/// <param name="protocol">The session.</param>
/// <param name="header">The request's header.</param>
/// <param name="received">When the request was received, in nanoseconds of the monotonic clock.</param>
internal abstract class DeferredRequest(FrameProtocol protocol, in FrameHeader header, long received)
{
    private static readonly Action<object?> CompleteOnLoop = static request => ((DeferredRequest)request!).CompleteNow();

    private readonly FrameHeader _header = header;

    /// <summary>The request's activity, which ends with the answer; null if it is not traced.</summary>
    public Activity? Activity { get; set; }

    /// <summary>Writes the answer. If the session has ended meanwhile, nobody waits for it.</summary>
    protected void Complete() => protocol.Session.Connection.Post(CompleteOnLoop, this);

    /// <summary>Answers with <see cref="Reply"/> or <see cref="Fail"/>. On the loop.</summary>
    protected abstract void Answer();

    protected void Reply() => protocol.Replies.Reply(_header, received, default(EmptyBody));

    protected void Fail(ErrorCode code, string message)
    {
        Traces.SetFailed(Activity, code.ToString());
        protocol.Replies.Error(_header, received, code, message);
    }

    private void CompleteNow()
    {
        Answer();
        Activity?.Stop();
        protocol.Deferred.End();
    }
}
