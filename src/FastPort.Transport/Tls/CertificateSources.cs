using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;

namespace FastPort.Tls;

/// <summary>Where a server's certificates come from. Not thread-safe.</summary>
/// <param name="options">Names the files.</param>
/// <param name="nameOf">An option's name in messages, by its key.</param>
/// <param name="time">Source of time.</param>
/// <param name="password">The password, if the configuration contains it. Defaults to null: it is in a file, if there is one.</param>
internal sealed class CertificateSources(
    TlsServerOptions options, Func<string, string> nameOf, TimeProvider time, string? password = null)
{
    private const string NothingConfigured =
        "a tls:// endpoint needs a certificate: set CertificateFile, CertificateFolder or UseDevelopmentCertificate; "
        + "`fastport certs create` creates one for trials.";

    /// <summary>
    /// Changes with the files. By content: that works with symbolic links that are swapped and with network file systems, where
    /// notifications and the times of files do not. A hash, so that it keeps no private key in memory. Never throws for a file.
    /// </summary>
    public string Fingerprint()
    {
        using IncrementalHash hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach (string file in Files())
        {
            byte[] content = ContentOf(file);
            hash.AppendData(Encoding.UTF8.GetBytes(file));
            hash.AppendData(BitConverter.GetBytes(content.Length));
            hash.AppendData(content);
            CryptographicOperations.ZeroMemory(content);
        }

        return Convert.ToHexString(hash.GetHashAndReset());
    }

    /// <summary>Reads all of it.</summary>
    /// <param name="previous">
    /// The previously read certificates; null for none. A certificate that has not changed is taken from there, so that its peers can still
    /// resume their sessions.
    /// </param>
    /// <param name="problems">Receives one sentence for everything that cannot be used.</param>
    /// <returns>Null if there is a problem.</returns>
    public CertificateSet? Read(CertificateSet? previous, ICollection<string> problems)
    {
        List<ServerCertificate> certificates = [];
        X509Certificate2Collection? authorities = null;
        if (!options.HasCertificate)
        {
            Add(nameof(options.CertificateFile), NothingConfigured);
        }

        // In this order: the first is for peers that request no name.
        if (options.CertificateFile.Length != 0)
        {
            Try(
                nameof(options.CertificateFile),
                () => Take(
                    options.CertificateFile,
                    CertificateFile.Load(options.CertificateFile, options.KeyFile, options.PasswordFile, password)));
        }

        if (options.CertificateFolder.Length != 0)
        {
            Try(nameof(options.CertificateFolder), TakeFolder);
        }

        if (options.UseDevelopmentCertificate)
        {
            Try(
                nameof(options.UseDevelopmentCertificate),
                () => Take(DevelopmentCertificate.Source, DevelopmentCertificate.Load(time.GetUtcNow())));
        }

        if (options.ClientAuthorityFile.Length != 0)
        {
            Try(
                nameof(options.ClientAuthorityFile),
                () => authorities = CertificateFile.LoadAuthorities(options.ClientAuthorityFile));
        }

        return problems.Count == 0 ? new CertificateSet(certificates, authorities) : null;

        void TakeFolder()
        {
            foreach (string file in CertificateFolder.Certificates(options.CertificateFolder))
            {
                Try(
                    nameof(options.CertificateFolder),
                    () => Take(file, CertificateFile.Load(file, CertificateFolder.KeyOf(file), options.PasswordFile)));
            }
        }

        void Take(string source, LoadedCertificate loaded)
        {
            ServerCertificate? same = previous?.Certificates.FirstOrDefault(c => c.Source == source && c.Holds(loaded));
            if (same is not null)
            {
                loaded.Release();
            }

            certificates.Add(same ?? new ServerCertificate(source, loaded));
        }

        void Try(string key, Action read)
        {
            try
            {
                read();
            }
            catch (CertificateException e)
            {
                Add(key, e.Message);
            }
        }

        void Add(string key, string problem) => problems.Add($"{nameOf(key)}: {problem}");
    }

    private IEnumerable<string> Files()
    {
        string[] named = [options.CertificateFile, options.KeyFile, options.PasswordFile, options.ClientAuthorityFile];
        IReadOnlyList<string> inFolder = [];
        try
        {
            inFolder = options.CertificateFolder.Length != 0 ? CertificateFolder.Files(options.CertificateFolder) : [];
        }
        catch (CertificateException)
        {
            // As if it were empty; the code that reads the certificates reports it.
        }

        return named.Where(static file => file.Length != 0).Concat(inFolder);
    }

    private static byte[] ContentOf(string file)
    {
        try
        {
            return CertificateBytes.Read(file, "certificate");
        }
        catch (CertificateException e)
        {
            // A file that cannot be read differs from the same file that can be.
            return Encoding.UTF8.GetBytes(e.Message);
        }
    }
}
