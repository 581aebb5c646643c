using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Logging;

namespace FastPort.Tls;

/// <summary>
/// The certificates of a server, read again when their files have changed. If anything is wrong with the new ones, all previous ones stay
/// in use, so that certificates of different times are never mixed. Safe from any thread; one read at a time.
/// </summary>
internal sealed class ServerCertificates : IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);

    private readonly CertificateSources _sources;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;

    // Guards what is not volatile; subscribers of Changed are called under it, so that they see the changes in order.
    private readonly Lock _gate = new();
    private string _fingerprint;
    private string? _lastFailure;
    private DateTimeOffset _nextExpiryCheck;

    // A certificate that was replaced is not disposed: a handshake may have just selected it, and handshakes do not report when they no
    // longer need it. The finalizer of its handle frees it when it is no longer referenced.
    private volatile CertificateSet _set;
    private volatile ITimer? _timer;
    private volatile bool _disposed;

    /// <summary>Reads the certificates.</summary>
    /// <param name="options">Names the files.</param>
    /// <param name="section">The section of the server's options, for messages.</param>
    /// <param name="time">Source of time.</param>
    /// <param name="logger">For changes and certificates that expire.</param>
    /// <exception cref="FastPortOptionsException">There is none, or one cannot be used.</exception>
    public ServerCertificates(TlsServerOptions options, string section, TimeProvider time, ILogger logger)
        : this(new CertificateSources(options, key => $"{section}:Tls:{key}", time), time, logger)
    {
    }

    /// <summary>Reads the certificates.</summary>
    /// <param name="sources">Where they come from.</param>
    /// <param name="time">Source of time.</param>
    /// <param name="logger">For changes and certificates that expire.</param>
    /// <exception cref="FastPortOptionsException">There is none, or one cannot be used.</exception>
    public ServerCertificates(CertificateSources sources, TimeProvider time, ILogger logger)
    {
        (_sources, _time, _logger) = (sources, time, logger);

        // Before the read: a file that changes in between is seen at the next check.
        _fingerprint = _sources.Fingerprint();
        List<string> problems = [];
        _set = _sources.Read(previous: null, problems) ?? throw new FastPortOptionsException(problems);
        DateTimeOffset now = time.GetUtcNow();
        _nextExpiryCheck = now + CertificateExpiry.Interval;
        CertificateExpiry.Tell(logger, _set.Certificates, now);
    }

    /// <summary>Called for each certificate that has changed, one call at a time. Must not block.</summary>
    public event Action<CertificateInfo>? Changed;

    /// <summary>Each certificate; the first is for names that none of them has.</summary>
    public IReadOnlyList<ServerCertificate> Current => _set.Certificates;

    /// <summary>What others may know of them.</summary>
    public IReadOnlyList<CertificateInfo> Infos => [.. _set.Certificates.Select(static one => one.Info)];

    /// <summary>The authorities whose certificates peers may present; null for the system's authorities.</summary>
    public X509Certificate2Collection? ClientAuthorities => _set.ClientAuthorities;

    /// <summary>The certificate for a peer that asks for this name: one that has it, or has a wildcard for it, or the first.</summary>
    public ServerCertificate Select(string? serverName) => _set.Select(serverName);

    /// <summary>Begins to look for changes.</summary>
    public void Watch()
    {
        lock (_gate)
        {
            _timer ??= NoContext.CreateTimer(_time, static state => ((ServerCertificates)state!).Look(), this, Interval, Interval);
        }

        if (_disposed)
        {
            _timer.Dispose();
        }
    }

    /// <summary>Ends the checks; does not wait for one in progress. The certificates stay usable.</summary>
    public void Dispose()
    {
        _disposed = true;
        _timer?.Dispose();
    }

    /// <summary>Looks at the files now. Never throws.</summary>
    internal void Look()
    {
        // The previous check is not done: a file system that does not answer must not accumulate threads.
        if (!_gate.TryEnter())
        {
            return;
        }

        try
        {
            ReadAgain();
            DateTimeOffset now = _time.GetUtcNow();
            if (now >= _nextExpiryCheck && !_disposed)
            {
                _nextExpiryCheck = now + CertificateExpiry.Interval;
                CertificateExpiry.Tell(_logger, _set.Certificates, now);
            }
        }
        finally
        {
            _gate.Exit();
        }
    }

    private void ReadAgain()
    {
        string fingerprint = _sources.Fingerprint();
        if (fingerprint == _fingerprint)
        {
            _lastFailure = null;
            return;
        }

        // A failed file is read again at every check, because the cause may be elsewhere; the failure is reported once for each change.
        List<string> problems = [];
        CertificateSet? set = TryRead(problems);
        if (_disposed)
        {
            return;
        }

        if (set is null)
        {
            string failure = string.Join(' ', problems);
            if (_lastFailure != fingerprint + failure)
            {
                _lastFailure = fingerprint + failure;
                TlsLog.ReloadFailed(_logger, failure);
            }

            return;
        }

        CertificateSet before = _set;
        (_set, _fingerprint, _lastFailure) = (set, fingerprint, null);
        Tell(before, set);
    }

    private CertificateSet? TryRead(List<string> problems)
    {
        try
        {
            return _sources.Read(_set, problems);
        }
        catch (Exception e)
        {
            // No content of a file may end the process.
            problems.Add(e.Message);
            return null;
        }
    }

    private void Tell(CertificateSet before, CertificateSet now)
    {
        ServerCertificate[] changed = [.. now.Certificates.Except(before.Certificates)];
        foreach (ServerCertificate certificate in changed)
        {
            CertificateInfo info = certificate.Info;
            TlsLog.Changed(_logger, info.Subject, info.Source, info.Thumbprint, info.NotAfter);
            foreach (Exception failure in Subscribers.Call(Changed, info, static (subscriber, changed) => subscriber(changed)))
            {
                TlsLog.SubscriberFailed(_logger, failure);
            }
        }

        CertificateExpiry.Tell(_logger, changed, _time.GetUtcNow());
        if (!now.HasSameAuthorities(before))
        {
            TlsLog.AuthoritiesChanged(_logger, string.Join("; ", now.ClientAuthorities!.Select(static authority => authority.Subject)));
        }
    }
}
