using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace FastPort.Protocol.Tests.Hosting;

/// <summary>A generic host with a server on a free port; its settings come from a table instead of files.</summary>
internal sealed class TestHost : IAsyncDisposable
{
    private static readonly (string Key, string Value)[] Defaults = [("FastPort:Endpoints:0", "tcp://127.0.0.1:0")];

    private TestHost(IHost host) => Host = host;

    public IHost Host { get; }

    public FastPortServer Server => Host.Services.GetRequiredService<FastPortServer>();

    public static IHost Build(Action<FastPortBuilder>? add = null, params (string Key, string Value)[] settings)
    {
        HostApplicationBuilder builder = Microsoft.Extensions.Hosting.Host.CreateEmptyApplicationBuilder(
            new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(Pairs(Defaults)).AddInMemoryCollection(Pairs(settings));
        FastPortBuilder server = builder.Services.AddFastPort(builder.Configuration);
        add?.Invoke(server);
        return builder.Build();
    }

    public static async Task<TestHost> StartAsync(Action<FastPortBuilder>? add = null, params (string Key, string Value)[] settings)
    {
        IHost host = Build(add, settings);
        await host.StartAsync();
        return new TestHost(host);
    }

    public async ValueTask DisposeAsync()
    {
        await Host.StopAsync();
        Host.Dispose();
    }

    private static IEnumerable<KeyValuePair<string, string?>> Pairs((string Key, string Value)[] settings) =>
        settings.Select(static s => KeyValuePair.Create<string, string?>(s.Key, s.Value));
}
