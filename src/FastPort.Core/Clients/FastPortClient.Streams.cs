using System.Diagnostics;
using FastPort.Connections;
using FastPort.Sessions.Streams;
using FastPort.Sessions.Tracing;

namespace FastPort;

// Calls that stream: they wait for a session as requests do, and belong to it.
public sealed partial class FastPortClient : IStreamTarget
{
    ConnectionClock IStreamTarget.Clock => _clock;

    TimeSpan IStreamTarget.StreamTimeout => _options.RequestTimeout;

    void IStreamTarget.Describe(Activity? activity) => Traces.SetServer(activity, _endpoint);

    ValueTask<Session> IStreamTarget.SessionAsync(TimeSpan left, CancellationToken cancellationToken) =>
        _slot.ForRequests is { } session ? new ValueTask<Session>(session) : WaitForSessionAsync(left, cancellationToken);

    void IStreamTarget.Retire(Session session) => _slot.Retire(session);
}
