using FastPort.Tls;

namespace FastPort.Connections;

/// <content>The encrypted endpoints: their certificates, and the stage that performs the handshake.</content>
public sealed partial class ConnectionServer
{
    private readonly ServerCertificates? _certificates;

    // Set at the start, before the first connection.
    private TlsServer? _tls;

    /// <summary>
    /// A certificate of the <c>tls://</c> endpoints was replaced because its file has changed; sessions keep theirs. Raised on the thread
    /// pool; a subscriber must not block.
    /// </summary>
    public event Action<CertificateInfo>? CertificateChanged
    {
        add
        {
            if (_certificates is not null)
            {
                _certificates.Changed += value;
            }
        }

        remove
        {
            if (_certificates is not null)
            {
                _certificates.Changed -= value;
            }
        }
    }

    /// <summary>The current certificates of the <c>tls://</c> endpoints; empty if there are none.</summary>
    public IReadOnlyList<CertificateInfo> Certificates => _certificates?.Infos ?? [];

    private ServerCertificates? ReadCertificates() =>
        _options.Endpoints.Any(text => TlsProtocols.Encrypts(Endpoint.Parse(text), _transports))
            ? new ServerCertificates(_options.Tls, _options.Section, _time, _logger)
            : null;

    private void PrepareEncryption(ConnectionSettings settings)
    {
        if (_certificates is not null)
        {
            _tls = new TlsServer(_options.Tls, _certificates, settings, _handshakes);
            _certificates.Watch();
        }
    }

    private bool IsServed(Endpoint endpoint) =>
        _transports.Supports(TlsProtocols.Encrypts(endpoint, _transports) ? TlsProtocols.Below(endpoint).Scheme : endpoint.Scheme);

    private ValueTask<Connection?> EncryptAsync(Connection connection, CancellationToken cancellationToken) =>
        _tls!.EncryptAsync(connection, cancellationToken);
}
