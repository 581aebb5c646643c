using FastPort.Connections;
using FastPort.Tls;
using FastPort.Transports;
using FastPort.WebSockets;

namespace FastPort.Endpoints;

/// <summary>What runs between an endpoint's transport and its protocol. Immutable.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="IsEncrypted">Whether TLS does.</param>
/// <param name="IsWebSocket">Whether a WebSocket does, above TLS.</param>
internal sealed record EndpointLayers(Endpoint Endpoint, bool IsEncrypted, bool IsWebSocket)
{
    /// <summary>The endpoint of the transport.</summary>
    public Endpoint Below => HasNone ? Endpoint : new Endpoint("tcp", Endpoint.Host, Endpoint.Port);

    private bool HasNone => !IsEncrypted && !IsWebSocket;

    /// <summary>The layers of an endpoint.</summary>
    public static EndpointLayers Of(Endpoint endpoint, ITransport transports)
    {
        bool isOurs = !transports.Supports(endpoint.Scheme);
        return new EndpointLayers(
            endpoint,
            isOurs && LayeredSchemes.IsSecure(endpoint.Scheme),
            isOurs && LayeredSchemes.IsWebSocket(endpoint.Scheme));
    }

    /// <summary>A listener, whose connections have no layers yet.</summary>
    public ITransportListener Listen(ITransport transports, ConnectionSettings settings) => HasNone
        ? transports.CreateListener(Endpoint, settings)
        : new AliasListener(Endpoint, transports.CreateListener(Below, SettingsBelow(settings)));

    /// <summary>A connector, whose connections have the layers.</summary>
    /// <param name="transports">The transports.</param>
    /// <param name="settings">Settings of the connections.</param>
    /// <param name="tls">How the server is checked.</param>
    /// <param name="protocol">The protocol above WebSockets.</param>
    public ITransportConnector Connect(
        ITransport transports, ConnectionSettings settings, TlsClientOptions tls, WebSocketProtocol protocol)
    {
        if (HasNone)
        {
            return transports.CreateConnector(Endpoint, settings);
        }

        ITransportConnector connector = new AliasConnector(Endpoint, transports.CreateConnector(Below, SettingsBelow(settings)));
        if (IsEncrypted)
        {
            connector = new TlsConnector(Endpoint, connector, settings, tls, TlsProtocols.Applications(IsWebSocket));
        }

        return IsWebSocket ? new WebSocketConnector(Endpoint, connector, protocol, settings) : connector;
    }

    /// <summary>The stages of a server's connections.</summary>
    /// <param name="tls">The server's options of TLS.</param>
    /// <param name="certificates">The server's certificates; null if no endpoint is encrypted.</param>
    /// <param name="webSockets">What the protocol needs of WebSockets, and their options; null if it does not run on them.</param>
    /// <param name="settings">Settings of the connections.</param>
    /// <param name="workers">Where handshakes run.</param>
    public IEnumerable<ConnectionStage> Stages(
        TlsServerOptions tls,
        ServerCertificates? certificates,
        (WebSocketProtocol Protocol, WebSocketServerOptions Options)? webSockets,
        ConnectionSettings settings,
        HandshakeWorkers workers)
    {
        if (IsEncrypted)
        {
            yield return new TlsServer(tls, certificates!, settings, workers, TlsProtocols.Applications(IsWebSocket)).EncryptAsync;
        }

        if (IsWebSocket && webSockets is var (protocol, options))
        {
            yield return new WebSocketServer(Endpoint, options, protocol, settings, workers).UpgradeAsync;
        }
    }

    private ConnectionSettings SettingsBelow(ConnectionSettings settings) =>
        IsEncrypted ? TlsOutput.SettingsBelow(settings) : settings;
}
