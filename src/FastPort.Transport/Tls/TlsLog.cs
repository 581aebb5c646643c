using Microsoft.Extensions.Logging;

namespace FastPort.Tls;

/// <summary>Log messages of certificates; event ids 3050 to 3059.</summary>
internal static partial class TlsLog
{
    [LoggerMessage(3050, LogLevel.Information, "New certificate {Subject} of {Source}: thumbprint {Thumbprint}, expires on {NotAfter:u}")]
    public static partial void Changed(ILogger logger, string subject, string source, string thumbprint, DateTimeOffset notAfter);

    [LoggerMessage(3051, LogLevel.Warning, "Certificates could not be reloaded; the previous ones stay in use. {Problems}")]
    public static partial void ReloadFailed(ILogger logger, string problems);

    [LoggerMessage(
        3052, LogLevel.Warning, "The certificate {Subject} of {Source} expires on {NotAfter:u}, in {Days} days: renew it")]
    public static partial void ExpiresSoon(ILogger logger, string subject, string source, DateTimeOffset notAfter, int days);

    [LoggerMessage(
        3053, LogLevel.Error, "The certificate {Subject} of {Source} expired on {NotAfter:u}: peers refuse it; renew it")]
    public static partial void Expired(ILogger logger, string subject, string source, DateTimeOffset notAfter);

    [LoggerMessage(3054, LogLevel.Error, "A CertificateChanged handler threw")]
    public static partial void SubscriberFailed(ILogger logger, Exception exception);

    [LoggerMessage(3055, LogLevel.Information, "Peers' certificates are now checked against other authorities: {Subjects}")]
    public static partial void AuthoritiesChanged(ILogger logger, string subjects);
}
