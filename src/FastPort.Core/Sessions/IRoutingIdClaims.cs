using System.Diagnostics.CodeAnalysis;

namespace FastPort.Sessions;

/// <summary>
/// Makes routing ids unique among several servers. A server without it keeps its ids to itself. A server asks after it has authenticated
/// the peer and no session of its own has the id, and before it welcomes the peer.
/// <para>Thread-safe. Called on sessions' loops, so no method may block.</para>
/// </summary>
[Experimental("FASTPORT001")]
public interface IRoutingIdClaims
{
    /// <summary>
    /// Claims an id. Two claims of one server for the same id do not conflict: the newer claim replaces the older one, and the server
    /// closes the older session.
    /// </summary>
    /// <param name="claim">The claim; the same object is passed to <see cref="Release"/>.</param>
    /// <param name="cancellationToken">Canceled if the session ends or the server stops waiting.</param>
    ValueTask<RoutingIdGrant> ClaimAsync(RoutingIdClaim claim, CancellationToken cancellationToken);

    /// <summary>
    /// Gives up a claim. Called once for every call of <see cref="ClaimAsync"/>, also if the id was not granted or the answer is still due.
    /// </summary>
    /// <param name="claim">The claim.</param>
    void Release(RoutingIdClaim claim);
}

/// <summary>The answer to a claim.</summary>
[Experimental("FASTPORT001")]
public enum RoutingIdGrant
{
    /// <summary>The id belongs to the session.</summary>
    Granted,

    /// <summary>The id belongs to a session of another server, and the claim does not take it over.</summary>
    Taken,

    /// <summary>The server cannot determine now whether the id is free; the peer may retry.</summary>
    Unavailable,
}
