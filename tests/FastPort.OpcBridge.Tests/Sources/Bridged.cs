using FastPort.Clients;
using FastPort.Dispatch;
using FastPort.Hosting;
using FastPort.OpcBridge.Configuration;
using FastPort.OpcBridge.Sources;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using FastPort.Protocol.Tags.Clients;
using FastPort.Protocol.Tags.Serving;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.OpcBridge.Tests.Sources;

/// <summary>An OPC UA server, a bridge and a client of it, over real sockets. The server can be stopped and started again.</summary>
internal sealed class Bridged : IAsyncDisposable
{
    /// <summary>A bound for what must happen soon; only a broken test reaches it.</summary>
    public static readonly TimeSpan Soon = TimeSpan.FromSeconds(30);

    public const string NamespaceUri = "urn:fastport:test";

    private readonly string _folder = Directory.CreateTempSubdirectory("bridge-").FullName;
    private readonly Action<AddressSpace> _build;
    private OpcUaTagSource _source = null!;
    private TagServer _tags = null!;
    private FastPortServer _fastPort = null!;

    private Bridged(Action<AddressSpace> build) => _build = build;

    /// <summary>Null while it is stopped.</summary>
    public OpcUaServer? Server { get; private set; }

    public string Url { get; private set; } = "opc.tcp://127.0.0.1:0";

    public TagClient Client { get; private set; } = null!;

    public OpcUaTagSource Source => _source;

    /// <param name="build">Makes the server's nodes, each time that it starts.</param>
    /// <param name="keys">Keys of section OpcBridge; {url} is the server's address.</param>
    public static Task<Bridged> StartAsync(Action<AddressSpace> build, params (string Key, string Value)[] keys) =>
        StartAsync(build, static url => url, keys);

    /// <param name="build">Makes the server's nodes, each time that it starts.</param>
    /// <param name="route">The address of what stands between the bridge and the server at an address.</param>
    /// <param name="keys">Keys of section OpcBridge; {url} is the address that the bridge is to use.</param>
    public static async Task<Bridged> StartAsync(
        Action<AddressSpace> build, Func<string, string> route, params (string Key, string Value)[] keys)
    {
        var bridged = new Bridged(build);
        await bridged.StartServerAsync();
        string url = route(bridged.Url);
        IConfiguration configuration = new ConfigurationBuilder()
            .AddInMemoryCollection(keys.Select(one => KeyValuePair.Create(
                $"OpcBridge:{one.Key}", (string?)one.Value.Replace("{url}", url, StringComparison.Ordinal))))
            .Build();
        var settings = BridgeSettings.Read(configuration);
        EndpointOptions endpoint = settings.Endpoints[0];
        endpoint.Client.Certificates.Directory = Path.Combine(bridged._folder, "client");
        endpoint.Client.Certificates.UnsafeTrustAll = true;
        endpoint.Client.MaxReconnectDelay = TimeSpan.FromMilliseconds(200);
        bridged._source = new OpcUaTagSource(endpoint, settings, NullLoggerFactory.Instance);
        bridged._tags = new TagServer([bridged._source]);
        bridged._source.Start(null);
        await bridged._source.Loaded.WaitAsync(Soon);
        bridged._fastPort = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, new MessageHandlers().MapTags(bridged._tags));
        await bridged._fastPort.StartAsync();
        bridged.Client = await TagClient.ConnectAsync(
            new FastPortClientOptions { Endpoint = bridged._fastPort.Endpoints[0].ToString(), RequestTimeout = Soon });
        return bridged;
    }

    public async Task StartServerAsync()
    {
        var options = new OpcUaServerOptions { Endpoints = { Url } };
        options.Certificates.Directory = Path.Combine(_folder, "server");
        options.Certificates.UnsafeTrustAll = true;
        options.SecurityPolicies = [OpcUaSecurityPolicy.None, OpcUaSecurityPolicy.Basic256Sha256];
        Server = new OpcUaServer(options);
        _build(Server.AddressSpace);
        await Server.StartAsync();
        Url = Server.Endpoints[0].ToString();
    }

    public async Task StopServerAsync()
    {
        await Server!.DisposeAsync();
        Server = null;
    }

    public async ValueTask DisposeAsync()
    {
        await Client.DisposeAsync();
        await _fastPort.DisposeAsync();
        await _tags.DisposeAsync();
        await _source.DisposeAsync();
        if (Server is not null)
        {
            await Server.DisposeAsync();
        }

        Directory.Delete(_folder, recursive: true);
    }
}
