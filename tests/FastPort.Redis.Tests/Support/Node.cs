using FastPort.Framing;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Redis.Tests.Support;

/// <summary>A server that is a node, in this process, as a program makes it: with the generic host.</summary>
internal sealed class Node : IAsyncDisposable
{
    /// <summary>For what is not about leases: a machine that is busy for two seconds must not end one.</summary>
    public static readonly (string Key, string Value) LongLease = ("FastPort:Backplane:Lease", "00:01:00");

    private readonly IHost _host;

    private Node(IHost host, RecordingLog log)
    {
        _host = host;
        Log = log;
    }

    public RecordingLog Log { get; }

    public FastPortServer Server => _host.Services.GetRequiredService<FastPortServer>();

    public RedisBackplane Backplane => _host.Services.GetRequiredService<RedisBackplane>();

    public IHost Host => _host;

    /// <summary>Starts a node with a lease of 2 s.</summary>
    public static Task<Node> StartAsync(RedisProcess redis, string name, params (string Key, string Value)[] settings) =>
        StartAsync(redis.Connection, name, settings);

    /// <summary>Starts a node with a lease of 2 s, with a connection of its own.</summary>
    public static async Task<Node> StartAsync(string connection, string name, params (string Key, string Value)[] settings)
    {
        Node node = Create(connection, name, settings);
        try
        {
            await node._host.StartAsync(Patience.Token);
            return node;
        }
        catch
        {
            await node.DisposeAsync();
            throw;
        }
    }

    public static Node Create(string connection, string name, params (string Key, string Value)[] settings) =>
        Create(connection, name, TimeProvider.System, settings);

    /// <summary>A node with a clock of its own.</summary>
    public static Node Create(string connection, string name, TimeProvider time, params (string Key, string Value)[] settings)
    {
        HostApplicationBuilder builder =
            Microsoft.Extensions.Hosting.Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        var log = new RecordingLog();
        builder.Services.AddSingleton<ILoggerFactory>(log);
        builder.Services.AddSingleton(time);
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["FastPort:Endpoints:0"] = "tcp://127.0.0.1:0",
            ["FastPort:ShutdownGrace"] = "00:00:00.1",
            ["FastPort:ShutdownTimeout"] = "00:00:05",
            ["FastPort:Routing:Relay"] = "true",
            ["FastPort:Routing:Topics"] = "true",
            ["FastPort:Routing:Peers"] = "true",
            ["FastPort:Backplane:Connection"] = connection,
            ["FastPort:Backplane:Node"] = name,
            ["FastPort:Backplane:Lease"] = "00:00:02",
        });
        builder.Configuration.AddInMemoryCollection(settings.Select(static one => KeyValuePair.Create(one.Key, (string?)one.Value)));
        builder.Services.AddFastPort(builder.Configuration).AddRedisBackplane(builder.Configuration);
        builder.Services.AddHealthChecks();
        return new Node(builder.Build(), log);
    }

    /// <summary>A client with a routing id, connected.</summary>
    public async Task<FastPortClient> ConnectAsync(
        string routingId, Action<FastPortClient>? prepare = null, bool reconnect = true, int maxFrameBytes = FrameLimits.Default)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = Server.Endpoints[0].ToString(),
            RoutingId = routingId,
            RequestTimeout = Patience.Limit,
            Reconnect = reconnect,
        };
        options.Session.MaxFrameBytes = maxFrameBytes;
        var client = new FastPortClient(options);
        prepare?.Invoke(client);
        try
        {
            await client.ConnectAsync(Patience.Token);
            return client;
        }
        catch
        {
            await client.DisposeAsync();
            throw;
        }
    }

    /// <summary>What the check of the backplane says.</summary>
    public async Task<HealthReportEntry> HealthAsync() =>
        (await _host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Patience.Token)).Entries["fastport-backplane"];

    /// <summary>Its instance as it stands in Redis.</summary>
    public string Instance() => Redis.Members.Member.Format(Backplane.Running!.Members.Self.Instance);

    /// <summary>Waits until this node knows so many nodes.</summary>
    public Task KnowsAsync(int nodes) => Patience.UntilAsync(() => Backplane.Nodes.Count == nodes, $"the node knows {nodes} nodes");

    public async ValueTask DisposeAsync()
    {
        await _host.StopAsync(Patience.Token);
        _host.Dispose();
    }
}
