using System.Diagnostics.CodeAnalysis;

namespace FastPort.Routing;

/// <summary>
/// Finds, lists and closes sessions by routing id, for Peers and for <see cref="ServerRouting"/>. The default knows the sessions of its
/// server. Another one, set with <c>FastPortServerComponents.Peers</c>, can ask other servers too. Servers that cannot be reached are left
/// out: no method throws because of them. Thread-safe.
/// </summary>
[Experimental("FASTPORT001")]
public interface IPeers
{
    /// <summary>The session with a routing id; null if there is none.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="cancellationToken">Ends the wait for other servers.</param>
    ValueTask<PeerInfo?> FindAsync(string routingId, CancellationToken cancellationToken);

    /// <summary>Says Goodbye to the session with a routing id and closes it; false if there is none.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="code">Code for the peer.</param>
    /// <param name="reason">Sentence for the peer and the log.</param>
    /// <param name="cancellationToken">Ends the wait for other servers.</param>
    ValueTask<bool> KickAsync(string routingId, ErrorCode code, string reason, CancellationToken cancellationToken);

    /// <summary>The first sessions whose id has a prefix and follows an id, in ordinal order of the ids.</summary>
    /// <param name="prefix">Only ids that begin with it.</param>
    /// <param name="limit">Maximum number of sessions.</param>
    /// <param name="after">Only ids that follow it; empty for all.</param>
    /// <param name="cancellationToken">Ends the wait for other servers.</param>
    ValueTask<IReadOnlyList<PeerInfo>> ListAsync(string prefix, int limit, string after, CancellationToken cancellationToken);
}
