using FastPort.Connections;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Tls;
using FastPort.Transports;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>TLS over another transport, by the parts that a server and a client use.</summary>
internal sealed class TlsTransport(ITransport below) : ITransport
{
    public bool Supports(string scheme) => scheme == TlsProtocols.Scheme;

    public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings)
    {
        var certificates = new ServerCertificates(TlsFiles.Server, "Test", TimeProvider.System, NullLogger.Instance);
        return new Listener(
            TlsProtocols.Listen(endpoint, below, settings),
            new TlsServer(TlsFiles.Server, certificates, settings, HandshakeWorkers.Clients),
            settings);
    }

    public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) =>
        new TlsConnector(endpoint, below, settings, TlsFiles.Client);

    private sealed class Listener(ITransportListener below, TlsServer server, ConnectionSettings settings) : ITransportListener
    {
        public Endpoint Endpoint => below.Endpoint;

        public void Start(Action<Connection> accepted) => below.Start(connection => _ = Task.Run(() => EncryptAsync(connection, accepted)));

        public ValueTask StopAsync() => below.StopAsync();

        private async Task EncryptAsync(Connection connection, Action<Connection> accepted)
        {
            try
            {
                accepted((await server.EncryptAsync(connection, Patience.Token))!);
            }
            catch (IOException e)
            {
                connection.Close(new CloseReason(CloseKind.LocalClosed, e.Message));
            }
            catch (Exception e)
            {
                TransportLog.AcceptedFault(settings.Logger, Endpoint, e);
                connection.Abort(CloseReason.LocalClosed);
            }
        }
    }
}
