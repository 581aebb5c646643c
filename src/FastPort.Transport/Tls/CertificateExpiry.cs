using Microsoft.Extensions.Logging;

namespace FastPort.Tls;

/// <summary>Warns of certificates that expire.</summary>
internal static class CertificateExpiry
{
    /// <summary>How often the expiry is reported again.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromDays(1);

    /// <summary>How long before the end it begins.</summary>
    public static readonly TimeSpan Notice = TimeSpan.FromDays(14);

    /// <summary>Logs those that expire soon or have expired.</summary>
    public static void Tell(ILogger logger, IEnumerable<ServerCertificate> certificates, DateTimeOffset now)
    {
        foreach (ServerCertificate certificate in certificates)
        {
            TimeSpan left = certificate.NotAfter - now;
            if (left <= TimeSpan.Zero)
            {
                TlsLog.Expired(logger, certificate.Certificate.Subject, certificate.Source, certificate.NotAfter);
            }
            else if (left <= Notice)
            {
                TlsLog.ExpiresSoon(
                    logger, certificate.Certificate.Subject, certificate.Source, certificate.NotAfter, (int)left.TotalDays);
            }
        }
    }
}
