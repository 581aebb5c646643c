using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>The certificate of this application, and its checks of others. Thread-safe.</summary>
internal sealed class ApplicationCertificates : IDisposable
{
    private readonly CertificateStore _store;

    /// <param name="store">Checks others; its directory contains this application's certificate.</param>
    /// <param name="applicationUri">The application.</param>
    /// <param name="isDefaultUri">
    /// Whether that URI is a default: then an existing certificate determines the application's URI. It may have been created when the
    /// machine, or the container, had another name, or by the server of a program that has clients too.
    /// </param>
    /// <param name="applicationName">The name that a new certificate gets.</param>
    /// <param name="hosts">The host names and addresses that a new certificate gets.</param>
    /// <param name="time">The current time.</param>
    /// <param name="logger">Logs if peers will refuse the certificate.</param>
    /// <exception cref="IOException">The directory cannot be used.</exception>
    public ApplicationCertificates(
        CertificateStore store,
        string applicationUri,
        bool isDefaultUri,
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

        ApplicationUri = isDefaultUri ? Own.ApplicationUri ?? applicationUri : applicationUri;
        if (Own.ApplicationUri != ApplicationUri)
        {
            CertificateLog.OtherApplication(logger, store.Own, Own.ApplicationUri, ApplicationUri);
        }
    }

    public ApplicationCertificate Own { get; }

    /// <summary>The URI of this application instance, which peers compare with that in the certificate.</summary>
    public string ApplicationUri { get; }

    /// <inheritdoc cref="CertificateStore.Advise"/>
    public string Advise(StatusCode status, X509Certificate2 certificate, ReadOnlyMemory<byte> sent) =>
        _store.Advise(status, certificate, sent);

    /// <inheritdoc cref="CertificateStore.TellUri"/>
    public void TellUri(X509Certificate2 certificate, string? applicationUri) => _store.TellUri(certificate, applicationUri);

    /// <summary>Checks the certificate of a peer that has connected, without its URI. Good if it can be trusted.</summary>
    public StatusCode Validate(X509Certificate2 certificate, ReadOnlyMemory<byte> sent) =>
        _store.Validate(certificate, applicationUri: null, sent: sent);

    public void Dispose() => Own.Dispose();
}

/// <summary>Log messages about certificates; event ids 7200 to 7299.</summary>
internal static partial class CertificateLog
{
    [LoggerMessage(
        7200,
        LogLevel.Warning,
        "UnsafeTrustAll is set: every certificate is accepted, so any peer can impersonate any other. Use it in tests only")]
    public static partial void TrustsAll(ILogger logger);

    [LoggerMessage(
        7201, LogLevel.Error, "This application's certificate in {Directory} expired on {NotAfter:u}. Delete it to have a new one created")]
    public static partial void Expired(ILogger logger, string directory, DateTime notAfter);

    [LoggerMessage(
        7202,
        LogLevel.Error,
        "This application's certificate in {Directory} is for {CertificateUri}, not for {ApplicationUri}: peers refuse it. Set "
            + "ApplicationUri to the URI of the certificate, or delete the certificate and its key to have new ones created")]
    public static partial void OtherApplication(ILogger logger, string directory, string? certificateUri, string applicationUri);

    [LoggerMessage(
        7204,
        LogLevel.Warning,
        "The certificate {Thumbprint} is for {CertificateUri}, but its application claims to be {ApplicationUri}. It is accepted because "
            + "UnsafeTrustAll is set")]
    public static partial void OtherApplicationTrusted(
        ILogger logger, string thumbprint, string certificateUri, string applicationUri);

    [LoggerMessage(
        7203, LogLevel.Error, "The revocation list {File} is ignored, so certificates that it revokes may be trusted: {Problem}")]
    public static partial void ListUnusable(ILogger logger, string file, string problem);

    [LoggerMessage(
        7205, LogLevel.Error, "Part of {File} is not a usable certificate, so peers that depend on it may be refused: {Problem}")]
    public static partial void CertificateUnusable(ILogger logger, string file, string problem);
}
