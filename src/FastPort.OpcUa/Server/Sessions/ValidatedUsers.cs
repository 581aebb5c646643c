using System.Net;
using System.Security.Claims;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.OpcUa.Server;

/// <summary>The users that the callbacks of the options accept. Their identities have a name and nothing else.</summary>
internal sealed class ValidatedUsers(OpcUaServerOptions options) : IOpcUaUsers
{
    public bool HasNames => options.ValidateUser is not null;

    public bool HasCertificates => options.ValidateUserCertificate is not null;

    public async ValueTask<ClaimsPrincipal?> FindAsync(
        string name, string password, EndPoint? peer, CancellationToken cancellationToken) =>
        await options.ValidateUser!(name, password, cancellationToken).ConfigureAwait(false) ? Of("password", name) : null;

    public async ValueTask<ClaimsPrincipal?> FindAsync(
        X509Certificate2 certificate, EndPoint? peer, CancellationToken cancellationToken) =>
        await options.ValidateUserCertificate!(certificate, cancellationToken).ConfigureAwait(false)
            ? Of("certificate", certificate.Subject)
            : null;

    private static ClaimsPrincipal Of(string scheme, string name) => new(new ClaimsIdentity([new Claim(ClaimTypes.Name, name)], scheme));
}
