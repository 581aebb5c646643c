using FastPort.Tags;
using FastPort.Tags.OpcUa;
using FastPort.Tags.OpcUa.Sources;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace FastPort.Tests.Support;

/// <summary>The bridge's endpoint in this process, in front of any OPC UA server, and a client of it.</summary>
internal sealed class BridgeUnderTest : IAsyncDisposable
{
    /// <summary>A bound for what must happen soon; only a broken test reaches it.</summary>
    public static readonly TimeSpan Soon = TimeSpan.FromSeconds(60);

    private readonly string _folder = Directory.CreateTempSubdirectory("bridge-").FullName;
    private readonly TagServer _tags;
    private readonly FastPortServer _fastPort;

    private BridgeUnderTest(TimeProvider? time, (string Key, string Value)[] keys)
    {
        IConfiguration configuration = new ConfigurationBuilder()
            .AddInMemoryCollection(keys.Select(static one => KeyValuePair.Create($"OpcBridge:{one.Key}", (string?)one.Value)))
            .Build();
        OpcUaTagsOptions settings = Read(configuration);
        OpcUaEndpointOptions endpoint = settings.Endpoints[0];
        endpoint.Client.Certificates.Directory = Path.Combine(_folder, "client");
        endpoint.Client.Certificates.UnsafeTrustAll = true;
        Source = new OpcUaTagSource(endpoint, settings, Log, time);
        _tags = new TagServer([Source]);
        _fastPort = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" }, Session = { MaxConcurrency = 64 } },
            new MessageHandlers().MapTags(_tags));
    }

    public OpcUaTagSource Source { get; }

    /// <summary>What the source and its OPC UA client log.</summary>
    public RecordingLog Log { get; } = new();

    public TagClient Client { get; private set; } = null!;

    /// <param name="mustLoad">Whether the OPC UA server answers, so that its tags are known before the client connects.</param>
    /// <param name="keys">Keys of section OpcBridge, with one endpoint.</param>
    public static Task<BridgeUnderTest> StartAsync(bool mustLoad, params (string Key, string Value)[] keys) =>
        StartAsync(mustLoad, time: null, keys);

    /// <param name="mustLoad">Whether the OPC UA server answers, so that its tags are known before the client connects.</param>
    /// <param name="time">The clock of the source's steps, not of the tag server's; null for the system's.</param>
    /// <param name="keys">Keys of section OpcBridge, with one endpoint.</param>
    public static async Task<BridgeUnderTest> StartAsync(
        bool mustLoad, TimeProvider? time, params (string Key, string Value)[] keys)
    {
        var bridge = new BridgeUnderTest(time, keys);
        bridge.Source.Start();
        if (mustLoad)
        {
            await bridge.Source.Loaded.WaitAsync(Soon);
        }

        await bridge._fastPort.StartAsync();
        bridge.Client = await bridge.ConnectAsync();
        return bridge;
    }

    /// <summary>Another client.</summary>
    public Task<TagClient> ConnectAsync() => TagClient.ConnectAsync(
        new FastPortClientOptions { Endpoint = _fastPort.Endpoints[0].ToString(), RequestTimeout = Soon });

    private static OpcUaTagsOptions Read(IConfiguration configuration)
    {
        var services = new ServiceCollection();
        services.AddOpcUaTags(configuration);
        using ServiceProvider provider = services.BuildServiceProvider();
        return provider.GetRequiredService<IOptions<OpcUaTagsOptions>>().Value;
    }

    public async ValueTask DisposeAsync()
    {
        if (Client is not null)
        {
            await Client.DisposeAsync();
        }

        await _fastPort.DisposeAsync();
        await _tags.DisposeAsync();
        await Source.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }
}
