using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>The certificate of this application, and its judgement of others. Thread-safe.</summary>
internal sealed class ApplicationCertificates : IDisposable
{
    private readonly CertificateStore _store;

    /// <exception cref="IOException">The directory cannot be used.</exception>
    public ApplicationCertificates(
        CertificateStore store,
        string applicationUri,
        string applicationName,
        IEnumerable<string> hosts,
        TimeProvider time,
        ILogger logger)
    {
        _store = store;
        Own = ApplicationCertificate.LoadOrCreate(
            store.OwnCertificate,
            Path.Combine(store.Own, "key.pem"),
            () => ApplicationCertificate.Create(applicationUri, applicationName, hosts, time.GetUtcNow()));
        if (Own.NotAfter < time.GetUtcNow().UtcDateTime)
        {
            CertificateLog.Expired(logger, store.Own, Own.NotAfter);
        }
    }

    public ApplicationCertificate Own { get; }

    /// <summary>Checks a peer's certificate. Good if it can be trusted.</summary>
    public StatusCode Validate(X509Certificate2 certificate, string? applicationUri) => _store.Validate(certificate, applicationUri);

    public void Dispose() => Own.Dispose();
}

/// <summary>Log messages about certificates; event ids 7200 to 7299.</summary>
internal static partial class CertificateLog
{
    [LoggerMessage(
        7200,
        LogLevel.Warning,
        "UnsafeTrustAll is set: every certificate is accepted, and anybody can pretend to be anybody. Use it in tests only")]
    public static partial void TrustsAll(ILogger logger);

    [LoggerMessage(
        7201, LogLevel.Error, "The own certificate in {Directory} has expired on {NotAfter:u}; delete it to have a new one made")]
    public static partial void Expired(ILogger logger, string directory, DateTime notAfter);

    [LoggerMessage(
        7203, LogLevel.Error, "The revocation list {File} does not count, so whom it revokes may be trusted: {Problem}")]
    public static partial void ListUnusable(ILogger logger, string file, string problem);
}
