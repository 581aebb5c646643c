using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.Tags.OpcUa.Published;

namespace FastPort.Tags.OpcUa.Tests.Published;

/// <summary>Published tags in this process: an OPC UA server and a FastPort server that have them, and a client of the first.</summary>
internal sealed class PublishedServer : IAsyncDisposable
{
    private readonly OpcUaPeer _server;
    private readonly TagServer _tags;
    private readonly FastPortServer _fastPort;
    private AddressSpace _space = null!;

    private PublishedServer(PublishedTagOptions options)
    {
        Source = new PublishedTagSource(options: options);
        _server = new OpcUaPeer(space => Nodes = new PublishedNodes(_space = space, Source));
        _tags = new TagServer([Source]);
        _fastPort = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" }, Session = { MaxConcurrency = 64 } },
            new MessageHandlers().MapTags(_tags).MapPublishedTags(Source));
    }

    public PublishedTagSource Source { get; }

    public PublishedNodes Nodes { get; private set; } = null!;

    public AddressSpace Space => _space;

    public OpcUaClient Client { get; private set; } = null!;

    public static async Task<PublishedServer> StartAsync(PublishedTagOptions? options = null)
    {
        var published = new PublishedServer(options ?? new PublishedTagOptions());
        await published._server.StartAsync();
        await published._fastPort.StartAsync();
        published.Client = await OpcUaClient.ConnectAsync(
            published._server.Url, new OpcUaClientOptions { SecurityPolicy = OpcUaSecurityPolicy.None });
        return published;
    }

    /// <summary>A FastPort client; with a routing id one that may publish.</summary>
    public Task<TagClient> ConnectAsync(string routingId = "") => TagClient.ConnectAsync(new FastPortClientOptions
    {
        Endpoint = _fastPort.Endpoints[0].ToString(),
        RoutingId = routingId,
        RequestTimeout = Patience.Limit,
    });

    /// <summary>The node id of a tag.</summary>
    public NodeId Id(string name) => Client.Namespaces.MakeId(PublishedNodes.NamespaceUri, name);

    public VariableNode Node(string name) =>
        (VariableNode)_space.Find(new NodeId(_space.AddNamespace(PublishedNodes.NamespaceUri), name))!;

    public async ValueTask DisposeAsync()
    {
        if (Client is not null)
        {
            await Client.DisposeAsync();
        }

        await _fastPort.DisposeAsync();
        await _tags.DisposeAsync();
        await _server.DisposeAsync();
        await Source.DisposeAsync();
    }
}
