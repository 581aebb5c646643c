using FastPort.Connections;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Endpoints;
using FastPort.Framing;
using FastPort.Tls;
using FastPort.Transports;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>TLS and WebSockets over another transport, by the parts that a server and a client use.</summary>
internal sealed class LayeredTransport(ITransport below) : ITransport
{
    private readonly FastPortServerOptions _options = new() { Tls = { CertificateFile = TlsFiles.Server.CertificateFile } };

    public bool Supports(string scheme) => LayeredSchemes.Contain(scheme);

    public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings)
    {
        var layers = EndpointLayers.Of(endpoint, below);
        ServerCertificates? certificates =
            layers.IsEncrypted ? new ServerCertificates(_options.Tls, "Test", TimeProvider.System, NullLogger.Instance) : null;
        return new Listener(
            layers.Listen(below, settings),
            [.. layers.Stages(_options.Tls, certificates, _options.WebSockets, settings, HandshakeWorkers.Clients)],
            settings);
    }

    public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) =>
        EndpointLayers.Of(endpoint, below).Connect(below, settings, TlsFiles.Client, FrameWebSocket.Protocol);

    private sealed class Listener(ITransportListener below, ConnectionStage[] stages, ConnectionSettings settings) : ITransportListener
    {
        public Endpoint Endpoint => below.Endpoint;

        public void Start(Action<Connection> accepted) =>
            below.Start(connection => _ = Task.Run(() => RunStagesAsync(connection, accepted)));

        public ValueTask StopAsync() => below.StopAsync();

        private async Task RunStagesAsync(Connection connection, Action<Connection> accepted)
        {
            try
            {
                Connection top = connection;
                foreach (ConnectionStage stage in stages)
                {
                    top = (await stage(top, Patience.Token))!;
                }

                accepted(top);
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
