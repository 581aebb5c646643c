using FastPort.Endpoints;
using FastPort.Tls;

namespace FastPort.Connections;

/// <content>The encrypted endpoints: their certificates.</content>
public sealed partial class ConnectionServer
{
    private readonly ServerCertificates? _certificates;

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
        _options.Endpoints.Any(text => EndpointLayers.Of(Endpoint.Parse(text), _transports).IsEncrypted)
            ? new ServerCertificates(_options.Tls, _options.Section, _time, _logger)
            : null;
}
