using System.Buffers;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Security.Tests.Support;

/// <summary>A host with a FastPort server and its security, and its clients. Files are looked at when the test's clock is moved.</summary>
internal sealed class SecureServer : IAsyncDisposable
{
    public const ushort Echo = 0x1000;
    public const ushort Other = 0x1001;

    private readonly IHost _host;
    private readonly List<FastPortClient> _clients = [];

    private SecureServer(IHost host, RecordingLog log, FakeTimeProvider time) => (_host, Log, Time) = (host, log, time);

    public RecordingLog Log { get; }

    public FakeTimeProvider Time { get; }

    public FastPortServer Server => _host.Services.GetRequiredService<FastPortServer>();

    public UserDirectory Users => _host.Services.GetRequiredService<UserDirectory>();

    public string Endpoint => Server.Endpoints[0].ToString();

    public static async Task<SecureServer> StartAsync(
        Action<SecurityOptions> configure,
        string endpoint = "tcp://127.0.0.1:0",
        FakeTimeProvider? time = null,
        string transport = "Auto",
        Action<FastPortServerOptions>? server = null,
        Action<FastPortBuilder>? before = null)
    {
        var log = new RecordingLog();
        time ??= new FakeTimeProvider();
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>(StringComparer.Ordinal)
        {
            ["FastPort:Endpoints:0"] = endpoint,
            ["FastPort:Transport"] = transport,
            ["FastPort:Routing:Relay"] = "true",
            ["FastPort:Routing:Topics"] = "true",
            ["FastPort:Routing:Peers"] = "true",
        });
        builder.Services.AddSingleton<ILoggerFactory>(log);
        builder.Services.AddSingleton<TimeProvider>(time);
        FastPortBuilder fastPort = builder.Services.AddFastPort(builder.Configuration, server)
            .Map(static handlers =>
            {
                handlers.MapInline(Echo, static (ref InlineRequest r) => r.Reply(r.Body.ToArray()));
                handlers.MapInline(Other, static (ref InlineRequest r) => r.Reply(r.Body.ToArray()));
            });
        before?.Invoke(fastPort);
        fastPort.AddSecurity(builder.Configuration, configure);
        IHost host = builder.Build();
        try
        {
            await host.StartAsync();
        }
        catch
        {
            host.Dispose();
            throw;
        }

        return new SecureServer(host, log, time);
    }

    public FastPortClient Client(
        string token = "", string routingId = "", string name = "test", Action<TlsClientOptions>? tls = null)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = Endpoint,
            Token = token,
            RoutingId = routingId,
            ClientName = name,
            Reconnect = false,
        };
        tls?.Invoke(options.Tls);
        var client = new FastPortClient(options);
        _clients.Add(client);
        return client;
    }

    public async Task<FastPortClient> ConnectAsync(string token = "", string routingId = "")
    {
        FastPortClient client = Client(token, routingId);
        await client.ConnectAsync().InTimeAsync();
        return client;
    }

    /// <summary>Moves the clock past the next look at the files.</summary>
    public void Look() => Time.Advance(TimeSpan.FromSeconds(5));

    public async ValueTask DisposeAsync()
    {
        foreach (FastPortClient client in _clients)
        {
            await client.DisposeAsync();
        }

        await _host.StopAsync();
        await ((IAsyncDisposable)_host).DisposeAsync();
    }
}
