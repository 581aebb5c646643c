using System.Net;
using FastPort.Dashboard.Tests.Support;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace FastPort.Dashboard.Tests.Health;

/// <summary>A host with a server and a dashboard, whose health is asked for over HTTP.</summary>
internal sealed class HealthHost : IAsyncDisposable
{
    private readonly IHost _host;
    private readonly HttpClient _http;

    private HealthHost(IHost host)
    {
        _host = host;
        _http = new HttpClient { BaseAddress = host.Services.GetRequiredService<DashboardServer>().Url, Timeout = Patience.Limit };
    }

    public int DashboardPort => _http.BaseAddress!.Port;

    public FastPortServer Server => _host.Services.GetRequiredService<FastPortServer>();

    public static async Task<HealthHost> StartAsync(
        Action<IServiceCollection>? configure = null,
        Action<MessageHandlers>? map = null,
        params (string Key, string Value)[] settings)
    {
        IHost host = DashboardHost.Build(configure, settings);
        map?.Invoke(host.Services.GetRequiredService<FastPortServer>().Handlers);
        await host.StartAsync();
        return new HealthHost(host);
    }

    public Task<(HttpStatusCode Status, string Text)> ReadyAsync() => GetAsync(_http, "/health/ready");

    public Task<(HttpStatusCode Status, string Text)> LiveAsync() => GetAsync(_http, "/health/live");

    public static async Task<(HttpStatusCode Status, string Text)> GetAsync(HttpClient http, string path)
    {
        using HttpResponseMessage answer = await http.GetAsync(path, TestContext.Current.CancellationToken);
        return (answer.StatusCode, await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
    }

    public Task StopAsync() => _host.StopAsync();

    public async ValueTask DisposeAsync()
    {
        _http.Dispose();
        await _host.StopAsync();
        await ((IAsyncDisposable)_host).DisposeAsync();
    }
}
