using System.Net;
using System.Security.Claims;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The users of an <see cref="OpcUaServer"/> as identities, which its authorizer then sees. Asked by threads of the pool, several at a
/// time but at most half as many as there are processors: it may hash, but not wait for others before it returns a task.
/// </summary>
public interface IOpcUaUsers
{
    /// <summary>Whether there are users with names and passwords. Must not change.</summary>
    bool HasNames { get; }

    /// <summary>Whether there are users with certificates. Must not change.</summary>
    bool HasCertificates { get; }

    /// <summary>Checks a name and a password, which came encrypted.</summary>
    /// <param name="name">The name; not empty.</param>
    /// <param name="password">The password.</param>
    /// <param name="peer">Where the client is; null if that is not known.</param>
    /// <param name="cancellationToken">The client has gone.</param>
    /// <returns>The identity; null if the user is refused.</returns>
    ValueTask<ClaimsPrincipal?> FindAsync(string name, string password, EndPoint? peer, CancellationToken cancellationToken);

    /// <summary>
    /// Checks the certificate of a user that has shown that it has the key. It is in its time; who has issued it is for the callee to
    /// check. It is disposed when the returned task has completed.
    /// </summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="peer">Where the client is; null if that is not known.</param>
    /// <param name="cancellationToken">The client has gone.</param>
    /// <returns>The identity; null if the user is refused.</returns>
    ValueTask<ClaimsPrincipal?> FindAsync(X509Certificate2 certificate, EndPoint? peer, CancellationToken cancellationToken);
}
