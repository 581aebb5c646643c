using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Tests.Support;

/// <summary>A server on a free port of the loopback address.</summary>
internal sealed class TestServer : IAsyncDisposable
{
    private TestServer(OpcUaServer server) => Server = server;

    public OpcUaServer Server { get; }

    public string Url => Server.Endpoints[0].ToString();

    public static async Task<TestServer> StartAsync(
        Action<AddressSpace>? fill = null,
        Action<OpcUaServerOptions>? configure = null,
        TimeProvider? time = null,
        ILoggerFactory? log = null)
    {
        var options = new OpcUaServerOptions
        {
            Endpoints = { "opc.tcp://127.0.0.1:0/test" },
            SecurityPolicies = [OpcUaSecurityPolicy.None],
        };
        configure?.Invoke(options);
        var server = new OpcUaServer(options, log, time);
        server.AddressSpace.AddNamespace("urn:fastport:test");
        fill?.Invoke(server.AddressSpace);
        await server.StartAsync();
        return new TestServer(server);
    }

    public Task<OpcUaClient> ConnectAsync(OpcUaClientOptions? options = null, TimeProvider? time = null) =>
        OpcUaClient.ConnectAsync(Url, options, loggerFactory: null, time, CancellationToken.None);

    public ValueTask DisposeAsync() => Server.DisposeAsync();
}
