using System.Diagnostics;
using FastPort.Sessions.Tracing;

namespace FastPort.Dispatch;

/// <summary>
/// The handler of one traced request, with the request's activity. It takes the handler's own place, so that untraced requests are no
/// larger.
/// </summary>
internal sealed class TracedEntry : HandlerEntry
{
    public TracedEntry(HandlerEntry handler, Activity activity)
        : base(handler, handler.Series) => Activity = activity;

    public Activity Activity { get; }

    /// <summary>The request failed with this code. Any thread, before the activity ends.</summary>
    public void Failed(ErrorCode code) => Traces.SetFailed(Activity, code.ToString());
}
