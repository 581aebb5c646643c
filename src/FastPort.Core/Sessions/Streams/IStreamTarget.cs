using FastPort.Connections;

namespace FastPort.Sessions.Streams;

/// <summary>Where a caller's streams go: a client, which chooses a session, or a session.</summary>
internal interface IStreamTarget
{
    ConnectionClock Clock { get; }

    /// <summary>The time to the first item of a call that sets none; zero for no limit.</summary>
    TimeSpan StreamTimeout { get; }

    /// <summary>Names the peer in a call's activity.</summary>
    void Describe(System.Diagnostics.Activity? activity);

    /// <summary>The session for a new call.</summary>
    /// <param name="left">The time left; zero for no limit.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="RequestFailedException">There is none in time, or there will be none.</exception>
    ValueTask<Session> SessionAsync(TimeSpan left, CancellationToken cancellationToken);

    /// <summary>The session takes no more requests. Returns if another one may.</summary>
    /// <exception cref="RequestFailedException">None will.</exception>
    void Retire(Session session);
}
