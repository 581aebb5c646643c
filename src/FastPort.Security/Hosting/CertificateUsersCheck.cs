namespace FastPort.Security.Hosting;

/// <summary>Checks that certificates can identify users at a server, and only certificates of a configured authority.</summary>
internal static class CertificateUsersCheck
{
    /// <summary>Throws if they do not.</summary>
    /// <param name="options">The options of the section.</param>
    /// <param name="section">Its path, for the message.</param>
    /// <param name="tls">The server's options.</param>
    /// <exception cref="FastPortOptionsException">The message names what to set.</exception>
    public static void Run(SecurityOptions options, string section, TlsServerOptions tls)
    {
        if (options.CertificateUsers == CertificateName.None)
        {
            return;
        }

        if (tls.ClientCertificates == ClientCertificateMode.None)
        {
            Throw("ClientCertificates is None; set Optional or Required");
        }

        // The system trusts authorities that issue certificates to anyone.
        if (tls.ClientAuthorityFile.Length == 0)
        {
            Throw("ClientAuthorityFile is empty: any authority that the system trusts could name users; give a file with yours");
        }

        void Throw(string problem) =>
            throw new FastPortOptionsException(
                [$"{section}:{nameof(options.CertificateUsers)} is {options.CertificateUsers}, but the server's Tls:{problem}."]);
    }
}
