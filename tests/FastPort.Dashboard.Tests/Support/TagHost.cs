using FastPort.Tags;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>A host with a FastPort server that serves the tags of a press to browsers, and its dashboard, both on free ports.</summary>
internal sealed class TagHost : IAsyncDisposable
{
    private readonly IHost _host;

    private TagHost(IHost host, MemoryTagSource source)
    {
        _host = host;
        Source = source;
    }

    public MemoryTagSource Source { get; }

    public FastPortServer Server => _host.Services.GetRequiredService<FastPortServer>();

    public Uri Url => _host.Services.GetRequiredService<DashboardServer>().Url!;

    public static async Task<TagHost> StartAsync(
        Action<IServiceCollection>? configure = null, params (string Key, string Value)[] settings)
    {
        var source = new MemoryTagSource();
        source.Add("press/speed", 12.5);
        source.Add(
            new TagInfo(0, "press/limit") { Type = TagType.Int64, Rank = -1, IsReadable = true, IsWritable = true, Unit = "1/min" },
            9_007_199_254_740_993);
        source.Add("press/name", "press 4", isWritable: true);
        source.Add("press/row", TagValue.FromArray([1, 2, 3]), isWritable: true);
        source.Add("oven/door", false, isWritable: true);
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["Dashboard:Url"] = "http://127.0.0.1:0",
            ["FastPort:Endpoints:0"] = "ws://127.0.0.1:0/tags",
        });
        builder.Configuration.AddInMemoryCollection(
            [.. settings.Select(static one => KeyValuePair.Create(one.Key, (string?)one.Value))]);
        builder.Services.AddLogging();
        builder.Services.AddSingleton(provider => new TagServer([source], authorizer: provider.GetService<TagAuthorizer>()));
        configure?.Invoke(builder.Services);
        builder.Services.AddFastPort(builder.Configuration).MapTags();
        builder.Services.AddFastPortDashboard(builder.Configuration);
        IHost host = builder.Build();
        await host.StartAsync();
        return new TagHost(host, source);
    }

    public async ValueTask DisposeAsync()
    {
        await _host.StopAsync();
        _host.Dispose();
        await Source.DisposeAsync();
    }
}
