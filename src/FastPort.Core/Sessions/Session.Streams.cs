using System.Diagnostics;
using FastPort.Connections;
using FastPort.Sessions.Streams;
using FastPort.Sessions.Tracing;

namespace FastPort;

// Calls of this side that stream.
public sealed partial class Session : IStreamTarget
{
    ConnectionClock IStreamTarget.Clock => _protocol.Settings.Clock;

    TimeSpan IStreamTarget.StreamTimeout => DefaultRequestTimeout;

    void IStreamTarget.Describe(Activity? activity) => Traces.SetPeer(activity, RemoteEndPoint);

    ValueTask<Session> IStreamTarget.SessionAsync(TimeSpan left, CancellationToken cancellationToken) => new(this);

    void IStreamTarget.Retire(Session session) => throw new RequestFailedException(RequestFailure.Closed, "The session is closed.");
}
