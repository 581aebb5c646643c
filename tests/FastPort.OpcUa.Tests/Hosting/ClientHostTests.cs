using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.OpcUa.Tests.Hosting;

/// <summary>OPC UA clients of a host: connected while it runs, in the constructors of its services.</summary>
public sealed class ClientHostTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task A_service_has_a_client_that_is_connected_while_the_host_runs()
    {
        await using TestServer server = await TestServer.StartAsync(Fill);
        HostApplicationBuilder builder = Hosts.Create(("OpcUaClient:EndpointUrl", server.Url));
        builder.Services.AddOpcUaClient(builder.Configuration);
        builder.Services.AddHostedService<Recorder>();
        builder.Services.AddSingleton<Record>();
        using IHost host = builder.Build();

        await host.StartAsync();
        Assert.Equal(5, await host.Services.GetRequiredService<Record>().First.Task.WaitAsync(Soon));
        Assert.Equal(1, server.Server.SessionCount);

        await host.StopAsync();
        Assert.Equal(0, server.Server.SessionCount);
        Assert.False(host.Services.GetRequiredService<OpcUaClient>().IsConnected);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_service_hears_of_the_first_session(bool retries)
    {
        await using TestServer server = await TestServer.StartAsync(Fill);
        HostApplicationBuilder builder = Hosts.Create(("OpcUaClient:EndpointUrl", server.Url), ("OpcUaClient:RetryConnect", $"{retries}"));
        builder.Services.AddOpcUaClient(builder.Configuration);
        using IHost host = builder.Build();
        var client = host.Services.GetRequiredService<OpcUaClient>();
        var begun = new TaskCompletionSource<(SessionRecovery, bool)>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Connected += recovery => begun.SetResult((recovery, client.IsConnected));

        await host.StartAsync();

        Assert.Equal((SessionRecovery.None, true), await begun.Task.WaitAsync(Soon));
        await host.StopAsync();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_subscription_that_is_made_when_the_first_session_begins_is_made_once(bool retries)
    {
        await using TestServer server = await TestServer.StartAsync(Fill, static options => options.MaxSubscriptionsPerSession = 1);
        HostApplicationBuilder builder = Hosts.Create(("OpcUaClient:EndpointUrl", server.Url), ("OpcUaClient:RetryConnect", $"{retries}"));
        builder.Services.AddOpcUaClient(builder.Configuration);
        using IHost host = builder.Build();
        var client = host.Services.GetRequiredService<OpcUaClient>();
        var begun = new TaskCompletionSource<Task<OpcUaSubscription>>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Connected += _ =>
        {
            // The answer comes while this handler still runs, unless it runs where answers are read.
            Task<OpcUaSubscription> making = client.SubscribeAsync().AsTask();
            SpinWait.SpinUntil(() => making.IsCompleted, TimeSpan.FromSeconds(1));
            begun.SetResult(making);
        };

        await host.StartAsync();

        OpcUaSubscription made = await (await begun.Task.WaitAsync(Soon)).WaitAsync(Soon);
        Assert.NotEqual(0u, made.Id);
        await host.StopAsync();
    }

    [Fact]
    public async Task A_server_that_cannot_be_reached_stops_the_start()
    {
        HostApplicationBuilder builder = Hosts.Create(("OpcUaClient:EndpointUrl", await UnusedUrlAsync()));
        builder.Services.AddOpcUaClient(builder.Configuration);
        using IHost host = builder.Build();

        await Assert.ThrowsAsync<EndpointException>(() => host.StartAsync());
    }

    [Fact]
    public async Task With_RetryConnect_the_host_starts_before_the_server_and_requests_wait()
    {
        string url = await UnusedUrlAsync();
        HostApplicationBuilder builder = Hosts.Create(("OpcUaClient:EndpointUrl", url), ("OpcUaClient:RetryConnect", "true"));
        builder.Services.AddOpcUaClient(builder.Configuration).Configure(static o => o.MaxReconnectDelay = o.ReconnectDelay);
        using IHost host = builder.Build();
        await host.StartAsync();
        var client = host.Services.GetRequiredService<OpcUaClient>();
        Task<DataValue[]> reading = client.ReadAsync([new NodeId(2, 1)]).AsTask();
        Assert.False(reading.IsCompleted);

        await using TestServer server = await TestServer.StartAsync(Fill, options => options.Endpoints[0] = url);

        Assert.Equal(5, (await reading.WaitAsync(Soon))[0].Value.Get<int>());
        await host.StopAsync();
    }

    [Fact]
    public async Task A_host_that_never_found_its_server_stops()
    {
        HostApplicationBuilder builder = Hosts.Create(
            ("OpcUaClient:EndpointUrl", await UnusedUrlAsync()), ("OpcUaClient:RetryConnect", "true"));
        builder.Services.AddOpcUaClient(builder.Configuration);
        using IHost host = builder.Build();
        await host.StartAsync();
        Task<DataValue[]> reading = host.Services.GetRequiredService<OpcUaClient>().ReadAsync([new NodeId(2, 1)]).AsTask();

        await host.StopAsync().WaitAsync(Soon);

        Assert.Equal(StatusCodes.BadSessionClosed, (await Assert.ThrowsAsync<OpcUaException>(() => reading.WaitAsync(Soon))).Status);
    }

    [Fact]
    public async Task A_host_has_clients_by_name()
    {
        await using TestServer one = await TestServer.StartAsync(Fill);
        await using TestServer two = await TestServer.StartAsync();
        HostApplicationBuilder builder = Hosts.Create(("Plc1:EndpointUrl", one.Url), ("Plc2:EndpointUrl", two.Url));
        builder.Services.AddOpcUaClient("one", builder.Configuration.GetSection("Plc1"));
        builder.Services.AddOpcUaClient("two", builder.Configuration.GetSection("Plc2"));
        Assert.Throws<InvalidOperationException>(() => builder.Services.AddOpcUaClient("two", builder.Configuration.GetSection("Plc3")));
        using IHost host = builder.Build();
        await host.StartAsync();

        DataValue[] first = await host.Services.GetRequiredKeyedService<OpcUaClient>("one").ReadAsync([new NodeId(2, 1)]);
        DataValue[] second = await host.Services.GetRequiredKeyedService<OpcUaClient>("two").ReadAsync([new NodeId(2, 1)]);

        Assert.Equal((StatusCodes.Good, StatusCodes.BadNodeIdUnknown), (first[0].Status, second[0].Status));
        await host.StopAsync();
    }

    [Fact]
    public async Task All_problems_are_named_with_the_section_and_the_host_does_not_start()
    {
        HostApplicationBuilder builder = Hosts.Create(
            ("Plc:EndpointUrl", "nowhere"), ("Plc:Endpoint", "x"), ("Plc:SecurityPolicy", "Best"), ("Plc:MaxPublishRequests", "0"));
        builder.Services.AddOpcUaClient(builder.Configuration.GetSection("Plc")).Configure(static o => o.RequestTimeout = TimeSpan.Zero);
        using IHost host = builder.Build();

        OptionsValidationException wrong = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        string[] failures = [.. wrong.Failures];
        Assert.Contains(failures, static f => f.StartsWith("Plc:EndpointUrl: ", StringComparison.Ordinal));
        Assert.Contains(failures, static f => f.StartsWith("Plc:Endpoint is not a known key; known keys: ", StringComparison.Ordinal));
        Assert.Contains(failures, static f => f.StartsWith("Plc:SecurityPolicy is 'Best'; allowed: None, ", StringComparison.Ordinal));
        Assert.Contains("Plc:MaxPublishRequests is 0; allowed: 1 to 100.", failures);
        Assert.Contains(failures, static f => f.StartsWith("Plc:RequestTimeout is 00:00:00; ", StringComparison.Ordinal));
    }

    // What only code can give: a certificate with its key.
    [Fact]
    public void Every_option_is_a_key_of_the_section() =>
        OptionKeys.AssertComplete<OpcUaClientOptions>(nameof(OpcUaClientOptions.UserCertificate));

    private static void Fill(AddressSpace space) => space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "v", 5);

    // The port of a server that has just stopped.
    private static async Task<string> UnusedUrlAsync()
    {
        TestServer server = await TestServer.StartAsync();
        string url = server.Url;
        await server.DisposeAsync();
        return url;
    }

    private sealed class Record
    {
        public TaskCompletionSource<int> First { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    private sealed class Recorder(OpcUaClient client, Record record) : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken stoppingToken) =>
            record.First.SetResult((await client.ReadAsync([new NodeId(2, 1)], stoppingToken))[0].Value.Get<int>());
    }
}
