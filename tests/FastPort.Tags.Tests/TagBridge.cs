using FastPort.Telemetry;

namespace FastPort.Tags.Tests;

/// <summary>A server of tags on a free port.</summary>
internal sealed class TagBridge : IAsyncDisposable
{
    private readonly FastPortServer _server;
    private readonly TagServer _tags;

    private TagBridge(FastPortServer server, TagServer tags)
    {
        _server = server;
        _tags = tags;
    }

    public string Endpoint => _server.Endpoints[0].ToString();

    public static Task<TagBridge> StartAsync(params ITagSource[] sources) => StartAsync(sources, new TagServerOptions());

    public static async Task<TagBridge> StartAsync(
        ITagSource[] sources,
        TagServerOptions options,
        string endpoint = "tcp://127.0.0.1:0",
        Action<FastPortServerOptions>? configure = null,
        LatencyStats? latencies = null,
        Action<MessageHandlers>? map = null,
        TagAuthorizer? authorizer = null,
        TimeProvider? time = null)
    {
        var tags = new TagServer(sources, options, time: time ?? latencies?.Time, latencies: latencies, authorizer: authorizer);
        var serverOptions = new FastPortServerOptions { Endpoints = { endpoint }, Session = { MaxConcurrency = 64 } };
        configure?.Invoke(serverOptions);
        MessageHandlers handlers = new MessageHandlers().MapTags(tags);
        map?.Invoke(handlers);
        Array.ForEach([.. sources.OfType<PublishedTagSource>()], source => handlers.MapPublishedTags(source));
        var server = new FastPortServer(serverOptions, handlers);
        await server.StartAsync();
        return new TagBridge(server, tags);
    }

    public Task<TagClient> ConnectAsync(string routingId = "") => TagClient.ConnectAsync(new FastPortClientOptions
    {
        Endpoint = Endpoint,
        RoutingId = routingId,
        RequestTimeout = Loopback.Soon,
        ReconnectDelay = TimeSpan.FromMilliseconds(20),
    });

    public TagServer Tags => _tags;

    /// <summary>Closes the tags' server alone.</summary>
    public ValueTask CloseTagsAsync() => _tags.DisposeAsync();

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        await _tags.DisposeAsync();
    }
}
