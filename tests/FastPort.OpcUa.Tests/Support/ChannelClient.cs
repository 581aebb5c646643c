using FastPort.Connections;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.Transports;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.OpcUa.Tests.Support;

/// <summary>The client's end of a channel without a session.</summary>
internal sealed class ChannelClient : IAsyncDisposable
{
    private readonly ConnectionClock _clock;

    private ChannelClient(ConnectionClock clock, Connection connection, ClientChannel channel) =>
        (_clock, Connection, Channel) = (clock, connection, channel);

    public Connection Connection { get; }

    public ClientChannel Channel { get; }

    /// <summary>Connects; the channel opens meanwhile.</summary>
    public static async Task<ChannelClient> ConnectAsync(string url, ChannelCredentials? credentials = null, TimeProvider? time = null)
    {
        var clock = new ConnectionClock(time);
        var settings = new ConnectionSettings { Clock = clock, Logger = NullLogger.Instance };
        Connection connection = await TransportCollection.CreateShared()
            .MapScheme("opc.tcp", over: "tcp", defaultPort: 4840)
            .CreateConnector(Endpoint.Parse(url), settings)
            .ConnectAsync(Patience.Token);
        var channel = new ClientChannel(
            url,
            new OpcUaClientOptions { TokenLifetime = TimeSpan.FromMinutes(1), RequestTimeout = TimeSpan.FromDays(1) },
            credentials,
            clock);
        connection.Start(channel);
        return new ChannelClient(clock, connection, channel);
    }

    /// <summary>The credentials of a client with a new certificate.</summary>
    public static ChannelCredentials Credentials(TestServer server, ApplicationCertificate own) => new(
        SecurityPolicy.Basic256Sha256, own, CertificateStore.TryReadLeaf(server.Server.Certificates!.Own.Der)!);

    /// <summary>Sends a request; returns the status of its answer.</summary>
    public async Task<StatusCode> AskAsync()
    {
        ServiceResult<GetEndpointsResponse> result = await Channel.SendAsync(
            NodeId.Null, default(GetEndpointsRequest), new Stack<PendingRequest<GetEndpointsResponse>>(), CancellationToken.None);
        Assert.True(!result.Status.IsGood || result.Response.Endpoints is not null);
        return result.Status;
    }

    public async ValueTask DisposeAsync()
    {
        Connection.Abort(CloseReason.LocalClosed);
        await Connection.Closed.InTimeAsync();
        _clock.Dispose();
    }
}
