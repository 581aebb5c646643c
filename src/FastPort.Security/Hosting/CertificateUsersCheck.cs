using Microsoft.Extensions.Options;

namespace FastPort.Security.Hosting;

/// <summary>Checks that certificates can identify users at a server, and only certificates of a configured authority.</summary>
/// <param name="name">The server's name; empty for none.</param>
/// <param name="section">The path of the section of <see cref="SecurityOptions"/>, for the message.</param>
/// <param name="servers">The options of the servers.</param>
internal sealed class CertificateUsersCheck(string name, string section, IOptionsMonitor<FastPortServerOptions> servers)
    : IValidateOptions<SecurityOptions>
{
    public ValidateOptionsResult Validate(string? optionsName, SecurityOptions options)
    {
        if (optionsName != name || options.CertificateUsers == CertificateName.None)
        {
            return ValidateOptionsResult.Skip;
        }

        TlsServerOptions tls;
        try
        {
            tls = servers.Get(name).Tls;
        }
        catch (OptionsValidationException)
        {
            // The host does not start, and names these problems as well as those of the security.
            return ValidateOptionsResult.Skip;
        }

        // The system trusts authorities that issue certificates to anyone.
        string? problem = tls.ClientCertificates == ClientCertificateMode.None
            ? "ClientCertificates is None; set Optional or Required"
            : tls.ClientAuthorityFile.Length == 0
            ? "ClientAuthorityFile is empty: any authority that the system trusts could name users; give a file with yours"
            : null;
        return problem is null
            ? ValidateOptionsResult.Success
            : ValidateOptionsResult.Fail(
                $"{section}:{nameof(options.CertificateUsers)} is {options.CertificateUsers}, but the server's Tls:{problem}.");
    }
}
