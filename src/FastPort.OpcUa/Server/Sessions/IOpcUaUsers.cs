using System.Net;
using System.Security.Claims;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The users of an <see cref="OpcUaServer"/> as identities, which its authorizer then sees. Called on the thread pool, on at most half as
/// many threads as there are processors: it may compute a hash, but must not wait before it returns a task.
/// </summary>
public interface IOpcUaUsers
{
    /// <summary>Whether there are users with names and passwords. Must not change.</summary>
    bool HasNames { get; }

    /// <summary>Whether there are users with certificates. Must not change.</summary>
    bool HasCertificates { get; }

    /// <summary>Checks a name and a password, which was sent encrypted.</summary>
    /// <param name="name">The name; not empty.</param>
    /// <param name="password">The password.</param>
    /// <param name="peer">The client's address; null if unknown.</param>
    /// <param name="cancellationToken">Canceled when the client has gone.</param>
    /// <returns>The identity; null if the user is refused.</returns>
    ValueTask<ClaimsPrincipal?> FindAsync(string name, string password, EndPoint? peer, CancellationToken cancellationToken);

    /// <summary>
    /// Checks the certificate of a user that has proved that it has the key. The certificate is within its validity period; the method must
    /// check its issuer. It is disposed when the returned task has completed.
    /// </summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="peer">The client's address; null if unknown.</param>
    /// <param name="cancellationToken">Canceled when the client has gone.</param>
    /// <returns>The identity; null if the user is refused.</returns>
    ValueTask<ClaimsPrincipal?> FindAsync(X509Certificate2 certificate, EndPoint? peer, CancellationToken cancellationToken);
}
