using FastPort.Protocol;
using Google.Protobuf;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>A host with a FastPort server that answers Echo, and its dashboard, both on free ports.</summary>
internal sealed class DashboardHost : IAsyncDisposable
{
    public const string Token = "the-token-of-the-tests";

    private readonly IHost _host;
    private readonly List<FastPortClient> _clients = [];

    private DashboardHost(IHost host)
    {
        _host = host;
        Http = new HttpClient(new SocketsHttpHandler { AllowAutoRedirect = false, UseCookies = false })
        {
            BaseAddress = host.Services.GetRequiredService<DashboardServer>().Url,
            Timeout = Patience.Limit,
        };
    }

    public HttpClient Http { get; }

    public Uri Url => Http.BaseAddress!;

    public IServiceProvider Services => _host.Services;

    public FastPortServer Server => Services.GetRequiredService<FastPortServer>();

    public static async Task<DashboardHost> StartAsync(
        Action<IServiceCollection>? configure = null, params (string Key, string Value)[] settings)
    {
        IHost host = Build(configure, settings);
        await host.StartAsync();
        return new DashboardHost(host);
    }

    public static Task<DashboardHost> StartWithTokenAsync(params (string Key, string Value)[] settings) =>
        StartAsync(null, [("Dashboard:Token", Token), .. settings]);

    public static IHost Build(Action<IServiceCollection>? configure = null, params (string Key, string Value)[] settings)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["Dashboard:Url"] = "http://127.0.0.1:0",
            ["FastPort:Endpoints:0"] = "tcp://127.0.0.1:0",
        });
        builder.Configuration.AddInMemoryCollection(
            [.. settings.Select(static one => KeyValuePair.Create(one.Key, (string?)one.Value))]);
        builder.Services.AddLogging();
        configure?.Invoke(builder.Services);
        builder.Services.AddFastPort(builder.Configuration).Map(static handlers => handlers.MapDiagnostics());
        builder.Services.AddFastPortDashboard(builder.Configuration);
        return builder.Build();
    }

    public async Task<FastPortClient> ConnectAsync(string name = "client", string routingId = "")
    {
        var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = Server.Endpoints[0].ToString(),
            ClientName = name,
            RoutingId = routingId,
        });
        _clients.Add(client);
        await client.ConnectAsync();
        return client;
    }

    public static async Task EchoAsync(FastPortClient client, int times)
    {
        for (int i = 0; i < times; i++)
        {
            await client.RequestAsync(
                DiagnosticType.Echo, new Echo { Payload = ByteString.CopyFromUtf8("hello") }, Echo.Parser);
        }
    }

    public Task StopAsync() => _host.StopAsync();

    public async ValueTask DisposeAsync()
    {
        Http.Dispose();
        foreach (FastPortClient client in _clients)
        {
            await client.DisposeAsync();
        }

        await _host.StopAsync();
        await ((IAsyncDisposable)_host).DisposeAsync();
    }
}
