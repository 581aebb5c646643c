using System.Diagnostics.Metrics;
using System.Net.Security;
using FastPort.Telemetry;
using FastPort.Tls;
using Microsoft.Extensions.Logging;

namespace FastPort;

/// <summary>
/// The certificate of a listener that is not FastPort's, such as a web server in the same program. It is reloaded when its files change;
/// its changes and its expiry are reported by the same events (3050 to 3053) and the same gauge as those of <c>tls://</c> endpoints.
/// Thread-safe.
/// </summary>
public sealed class WatchedCertificate : IDisposable
{
    private readonly ServerCertificates _certificates;
    private readonly Meter? _meter;

    /// <summary>Reads the certificate, and begins to watch its files.</summary>
    /// <param name="options">
    /// Names the files: <see cref="TlsServerOptions.CertificateFile"/>, <see cref="TlsServerOptions.KeyFile"/> and
    /// <see cref="TlsServerOptions.PasswordFile"/>.
    /// </param>
    /// <param name="section">The configuration section that names it, for messages.</param>
    /// <param name="logger">For changes, and for a certificate that expires.</param>
    /// <param name="password">The password, in place of a file with it. Defaults to null: none.</param>
    /// <param name="time">Source of time. Defaults to null: the system's.</param>
    /// <param name="meters">Owns the meter of the gauge. Defaults to null: the certificate creates its own.</param>
    /// <exception cref="FastPortOptionsException">It cannot be used; the message says why.</exception>
    public WatchedCertificate(
        TlsServerOptions options,
        string section,
        ILogger logger,
        string? password = null,
        TimeProvider? time = null,
        IMeterFactory? meters = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(section);
        ArgumentNullException.ThrowIfNull(logger);
        time ??= TimeProvider.System;
        _certificates = new ServerCertificates(new CertificateSources(options, _ => section, time, password), time, logger);
        Meter meter = FastPortMeter.Create(meters, "fastport.server", name: null);
        FastPortMeter.ObserveCertificates(meter, () => [(Info.Source, Info.NotAfter)]);
        _meter = meters is null ? meter : null;
        _certificates.Watch();
    }

    /// <summary>The certificate for handshakes at this moment.</summary>
    public SslStreamCertificateContext Context => _certificates.Select(serverName: null).Context;

    /// <summary>Its public details at this moment.</summary>
    public CertificateInfo Info => _certificates.Infos[0];

    /// <summary>Ends the watch; the certificate stays usable.</summary>
    public void Dispose()
    {
        _certificates.Dispose();
        _meter?.Dispose();
    }
}
