using System.Collections.Concurrent;
using System.Formats.Asn1;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Logging;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// The certificates that this application trusts: its own, in <c>own</c>; DER or PEM files in <c>trusted</c>, their issuers in
/// <c>issuers</c>, and in both of them revocation lists, <c>*.crl</c>. A certificate that is not trusted is saved in <c>rejected</c>, from
/// where an administrator moves it to <c>trusted</c>. The folders are read at each check, so a change needs no restart. Thread-safe.
/// </summary>
internal sealed class CertificateStore
{
    /// <summary>Identifier of the extension with the subject's alternative names (RFC 5280, 4.2.1.6).</summary>
    internal const string SubjectAlternativeName = "2.5.29.17";

    private const int MinKeyBits = 2048;
    private const int MaxKeyBits = 4096;
    private const int MaxRejected = 100;

    // Maximum number of certificates checked after a peer's own: chains are short, and a stranger can send any number.
    private const int MaxSentIssuers = 10;

    private readonly string _trusted;
    private readonly string _issuers;
    private readonly string _rejected;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;

    // Ignored revocation list files that were logged.
    private readonly ConcurrentDictionary<string, bool> _unusable = new(StringComparer.Ordinal);
    private readonly bool _requiresLists;
    private readonly bool _trustsAll;

    /// <param name="options">The directory of the folders, and the requirements.</param>
    /// <param name="time">The current time, for validity.</param>
    /// <param name="logger">Logs events for the administrator.</param>
    /// <exception cref="IOException">The directory cannot be used.</exception>
    public CertificateStore(OpcUaCertificateOptions options, TimeProvider time, ILogger logger)
    {
        _time = time;
        _logger = logger;
        _requiresLists = options.RequireRevocationLists;
        _trustsAll = options.UnsafeTrustAll;
        string directory = Path.GetFullPath(options.Directory);
        Own = Path.GetDirectoryName(OwnCertificateIn(directory))!;
        _trusted = Path.Combine(directory, "trusted");
        _issuers = Path.Combine(directory, "issuers");
        _rejected = Path.Combine(directory, "rejected");
        if (_trustsAll)
        {
            CertificateLog.TrustsAll(logger);
            return;
        }

        try
        {
            Array.ForEach([_trusted, _issuers, _rejected], static folder => Directory.CreateDirectory(folder));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new IOException($"The folders of Certificates:Directory, {directory}, cannot be used: {e.Message}", e);
        }
    }

    /// <summary>The tag of a URI among the subject's alternative names.</summary>
    internal static Asn1Tag UriTag { get; } = new(TagClass.ContextSpecific, 6);

    /// <summary>The folder of the application's own certificate, <c>certificate.pem</c>, and its key, <c>key.pem</c>.</summary>
    public string Own { get; }

    /// <summary>The file of the application's own certificate.</summary>
    public string OwnCertificate => Path.Combine(Own, "certificate.pem");

    /// <summary>Advice if an application's URI differs from its certificate's.</summary>
    public const string HowToAgree =
        "Set the application's ApplicationUri to that of its certificate, or give it a certificate with its ApplicationUri";

    // The step for an administrator to trust a refused certificate. It was saved, unless the folder is not writable.
    private string HowToTrust(X509Certificate2 certificate) => File.Exists(RejectedFileOf(certificate))
        ? $"move its file from {_rejected} to {_trusted}"
        : $"put it into {_trusted}. It could not be saved in {_rejected}: make that folder writable";

    private string RejectedFileOf(X509Certificate2 certificate) => Path.Combine(_rejected, $"{certificate.Thumbprint}.der");

    /// <summary>The URI in the certificate, and the application's URI; for messages.</summary>
    public static string DescribeUris(X509Certificate2 certificate, string? applicationUri) =>
        $"It is for {NameOf(ApplicationUriOf(certificate))}, but the application claims to be {NameOf(applicationUri)}. {HowToAgree}";

    /// <summary>Advice for an administrator about a refused certificate, without a full stop; empty for none.</summary>
    /// <param name="status">Why it was refused.</param>
    /// <param name="certificate">The certificate.</param>
    /// <param name="sent">The bytes that the peer has sent: the certificate, possibly followed by those of its issuers.</param>
    public string Advise(StatusCode status, X509Certificate2 certificate, ReadOnlyMemory<byte> sent)
    {
        if (status == StatusCodes.BadCertificateChainIncomplete)
        {
            using var list = new TrustList(OwnCertificate, _trusted, _issuers);
            using var issuers = new SentIssuers(sent.Span, MaxSentIssuers);
            string missing = PeerText.Escape(list.MissingIssuer(certificate, issuers.Certificates) ?? certificate.Issuer);
            return $"The certificate of its issuer '{missing}' is missing: put it into {_issuers}, or into {_trusted} to trust all "
                + $"certificates that it has issued. To trust this certificate alone, {HowToTrust(certificate)}";
        }

        // Others are not saved: trusting them would not help, for example an expired one.
        return status == StatusCodes.BadCertificateHostNameInvalid ? $"To trust it under any name, {HowToTrust(certificate)}"
            : status == StatusCodes.BadCertificateUntrusted ? $"To trust it, {HowToTrust(certificate)}"
            : status == StatusCodes.BadCertificateTimeInvalid
                ? $"It is valid from {certificate.NotBefore.ToUniversalTime():u} to {certificate.NotAfter.ToUniversalTime():u}, and the "
                    + $"time of this machine is {_time.GetUtcNow():u}. Give its owner another certificate, or correct the time"
            : string.Empty;
    }

    /// <summary>The full path of the application's own certificate in a directory of certificates.</summary>
    public static string OwnCertificateIn(string directory) => Path.GetFullPath(Path.Combine(directory, "own", "certificate.pem"));

    /// <summary>The first certificate of a chain of DER structures; null if there is none.</summary>
    public static X509Certificate2? TryReadLeaf(ReadOnlySpan<byte> chain)
    {
        try
        {
            if (!AsnDecoder.TryReadEncodedValue(
                chain, AsnEncodingRules.DER, out _, out int offset, out int length, out _))
            {
                return null;
            }

            return X509CertificateLoader.LoadCertificate(chain[..(offset + length)]);
        }
        catch (CryptographicException)
        {
            return null;
        }
    }

    /// <summary>The RSA key of a certificate; null if it has none, or none that can be read: a stranger can send any.</summary>
    public static RSA? TryGetKey(X509Certificate2 certificate)
    {
        try
        {
            return certificate.GetRSAPublicKey();
        }
        catch (CryptographicException)
        {
            return null;
        }
    }

    /// <summary>Checks a peer's certificate (OPC 10000-4, 6.1.3). Good if it can be trusted.</summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="applicationUri">The URI that it must contain; null if not known yet.</param>
    /// <param name="host">
    /// The host that was connected to, which it must contain unless the certificate itself is trusted: an authority may also have issued
    /// certificates for other hosts. Null for a peer that has connected.
    /// </param>
    /// <param name="sent">
    /// The bytes that the peer has sent: the certificate, possibly followed by those of its issuers, which help to find a trusted one and
    /// are not trusted themselves. Defaults to nothing.
    /// </param>
    public StatusCode Validate(
        X509Certificate2 certificate, string? applicationUri, string? host = null, ReadOnlyMemory<byte> sent = default)
    {
        using RSA? key = TryGetKey(certificate);
        if (key is null || (!_trustsAll && key.KeySize is < MinKeyBits or > MaxKeyBits))
        {
            return StatusCodes.BadCertificateInvalid;
        }

        if (_trustsAll)
        {
            if (applicationUri is not null && ApplicationUriOf(certificate) != applicationUri)
            {
                TellUri(certificate, applicationUri);
            }

            return StatusCodes.Good;
        }

        StatusCode trust;
        bool isKnown;
        using (var list = new TrustList(OwnCertificate, _trusted, _issuers))
        using (var issuers = new SentIssuers(sent.Span, MaxSentIssuers))
        {
            trust = list.Check(certificate, issuers.Certificates, _time.GetUtcNow(), _requiresLists);
            isKnown = list.Holds(certificate);
            TellUnusable(list);
        }

        if (trust.IsBad)
        {
            if (trust == StatusCodes.BadCertificateUntrusted || trust == StatusCodes.BadCertificateChainIncomplete)
            {
                Reject(certificate);
            }

            return trust;
        }

        if (!TrustList.IsInTime(certificate, _time.GetUtcNow()))
        {
            return StatusCodes.BadCertificateTimeInvalid;
        }

        if (host is not null && !isKnown && !CertificateHosts.Has(certificate, host))
        {
            // An administrator may trust it for itself.
            Reject(certificate);
            return StatusCodes.BadCertificateHostNameInvalid;
        }

        if (!AllowsUse(certificate, isKnown))
        {
            return StatusCodes.BadCertificateUseNotAllowed;
        }

        // An authority has also issued certificates to people, devices and web servers, which are not applications.
        string? uri = ApplicationUriOf(certificate);
        return (applicationUri is null || uri == applicationUri) && (uri is not null || isKnown)
            ? StatusCodes.Good
            : StatusCodes.BadCertificateUriInvalid;
    }

    /// <summary>Logs that a certificate for another application, or for none, is accepted because all are.</summary>
    public void TellUri(X509Certificate2 certificate, string? applicationUri) => CertificateLog.OtherApplicationTrusted(
        _logger, certificate.Thumbprint, NameOf(ApplicationUriOf(certificate)), NameOf(applicationUri));

    /// <summary>The URI of the subject's alternative names; null if there is none.</summary>
    public static string? ApplicationUriOf(X509Certificate2 certificate)
    {
        if (certificate.Extensions[SubjectAlternativeName] is not { } extension)
        {
            return null;
        }

        try
        {
            AsnReader names = new AsnReader(extension.RawData, AsnEncodingRules.DER).ReadSequence();
            while (names.HasData)
            {
                if (names.PeekTag().HasSameClassAndValue(UriTag))
                {
                    return names.ReadCharacterString(UniversalTagNumber.IA5String, UriTag);
                }

                names.ReadEncodedValue();
            }
        }
        catch (AsnContentException)
        {
            // Not a valid extension: no URI.
        }

        return null;
    }

    /// <summary>A URI of a peer, for messages.</summary>
    public static string NameOf(string? applicationUri) =>
        string.IsNullOrEmpty(applicationUri) ? "no application" : PeerText.Escape(applicationUri);

    // Whether the key may sign and encrypt (OPC 10000-6, 6.2.2); one of both is enough if the certificate itself is trusted. Without the
    // extension a key may do anything (RFC 5280, 4.2.1.3).
    private static bool AllowsUse(X509Certificate2 certificate, bool isKnown)
    {
        const X509KeyUsageFlags Encipherment = X509KeyUsageFlags.KeyEncipherment | X509KeyUsageFlags.DataEncipherment;
        try
        {
            if (certificate.Extensions.OfType<X509KeyUsageExtension>().FirstOrDefault()?.KeyUsages is not { } usages)
            {
                return true;
            }

            bool signs = usages.HasFlag(X509KeyUsageFlags.DigitalSignature), encrypts = (usages & Encipherment) != 0;
            return isKnown ? signs || encrypts : signs && encrypts;
        }
        catch (CryptographicException)
        {
            // Not a valid extension.
            return false;
        }
    }

    // An ignored list must not go unnoticed: revoked certificates would be trusted again. Nor must an ignored authority: the certificates
    // that it issued are refused. Once for each file, until it counts again.
    private void TellUnusable(TrustList list)
    {
        Tell(list.CheckLists(), CertificateLog.ListUnusable);
        Tell(list.CheckCertificates(), CertificateLog.CertificateUnusable);

        void Tell(IEnumerable<(string File, string? Problem)> files, Action<ILogger, string, string> tell)
        {
            foreach ((string file, string? problem) in files)
            {
                if (problem is null)
                {
                    _unusable.TryRemove(file, out _);
                }
                else if (_unusable.TryAdd(file, true))
                {
                    tell(_logger, file, problem);
                }
            }
        }
    }

    // A stranger can send any number of certificates: the folder must not grow without bound, and keeps the newest.
    private void Reject(X509Certificate2 certificate)
    {
        try
        {
            string file = RejectedFileOf(certificate);
            if (File.Exists(file))
            {
                return;
            }

            FileInfo[] saved = new DirectoryInfo(_rejected).GetFiles("*.der");
            foreach (FileInfo oldest in saved.OrderBy(static one => one.LastWriteTimeUtc).SkipLast(MaxRejected - 1))
            {
                oldest.Delete();
            }

            File.WriteAllBytes(file, certificate.RawData);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The peer is refused all the same.
        }
    }
}
