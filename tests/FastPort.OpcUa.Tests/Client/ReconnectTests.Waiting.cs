using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <content>Requests that wait for a session: only then is it known what the server serves at a time.</content>
public sealed partial class ReconnectTests
{
    private const int Limit = 10;

    private static readonly NodeId[] Many = [.. Enumerable.Range(100, 25).Select(static i => new NodeId(2, (uint)i))];

    [Fact]
    public async Task Requests_wait_for_a_connection_no_longer_than_their_time()
    {
        TestServer server = await StartAsync(5);
        await using OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions { ReconnectDelay = TimeSpan.FromMilliseconds(1), RequestTimeout = TimeSpan.FromSeconds(5) }, _time);
        Events events = new(client);
        await server.DisposeAsync();
        await events.Disconnected.InTimeAsync();

        Task<DataValue[]> waiting = client.ReadAsync([Number]).AsTask();
        _time.Advance(TimeSpan.FromSeconds(4.999));
        Assert.False(waiting.IsCompleted);
        _time.Advance(TimeSpan.FromMilliseconds(1));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => waiting.InTimeAsync());
        Assert.Equal((StatusCodes.BadServerNotConnected, false), (e.Status, e.MayHaveExecuted));
        using var given = new CancellationTokenSource();
        await given.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => client.ReadAsync([Number], given.Token).InTimeAsync());
    }

    /// <summary>What the server lacks is not that too much waits to be sent here.</summary>
    [Fact]
    public async Task A_request_after_the_server_has_ended_the_channel_for_lack_of_resources_waits_for_the_next_connection()
    {
        await using var server = new ScriptedServer();
        await using OpcUaClient client = await server.ConnectAsync();
        var halfOpen = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        server.On<WriteRequest>(async call =>
        {
            await call.EndAsync(new ErrorMessage { Error = StatusCodes.BadTcpNotEnoughResources });
            await halfOpen.Task.InTimeAsync();
        });
        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => client.WriteAsync([KeyValuePair.Create(new NodeId(1, 1), (Variant)1)]).InTimeAsync());

        Task<DataValue[]> reading = client.ReadAsync([new NodeId(0, 2255)]).AsTask();
        halfOpen.SetResult();

        Assert.Equal((StatusCodes.BadTcpNotEnoughResources, true), (e.Status, e.MayHaveExecuted));
        Assert.Equal(server.Namespaces, Assert.Single(await reading.InTimeAsync()).Value.GetArray<string>()!);
    }

    [Fact]
    public async Task With_RetryConnect_a_client_may_be_there_before_its_server()
    {
        TestServer before = await StartAsync(5);
        string url = before.Url;
        await before.DisposeAsync();
        var options = new OpcUaClientOptions { RetryConnect = true, MaxReconnectDelay = TimeSpan.FromMilliseconds(100) };
        using var given = new CancellationTokenSource();
        Task<OpcUaClient> never = OpcUaClient.ConnectAsync(url, options, cancellationToken: given.Token);
        var log = new RecordingLog();
        Task<OpcUaClient> connecting = OpcUaClient.ConnectAsync(url, options, log);
        await given.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => never.InTimeAsync());
        Assert.False(connecting.IsCompleted);
        await Patience.UntilAsync(() => log.WithId(7102).Count != 0, "an attempt has failed");
        string told = log.WithId(7102)[0].Text;
        Assert.StartsWith($"Cannot connect to {url}: ", told, StringComparison.Ordinal);
        Assert.Equal(0, told.LastIndexOf("Cannot connect", StringComparison.Ordinal));

        await using TestServer server = await TestServer.StartAsync(configure: o => o.Endpoints[0] = url);
        await using OpcUaClient client = await connecting.InTimeAsync();
        Events events = new(client);

        Assert.True(client.IsConnected);
        client.Connection.Abort(CloseReason.LocalClosed);
        Assert.Equal(SessionRecovery.Resumed, await events.Reconnected.InTimeAsync());
    }

    [Fact]
    public async Task What_waits_for_the_server_goes_in_as_many_requests_as_it_wants()
    {
        TestServer server = await StartLimitedAsync("opc.tcp://127.0.0.1:0/test");
        string url = server.Url;
        await using OpcUaClient client = await server.ConnectAsync(Quick);
        await using OpcUaSubscription subscription = await client.SubscribeAsync();
        Events events = new(client);
        await server.DisposeAsync();
        await events.Disconnected.InTimeAsync();

        Task<DataValue[]> reading = client.ReadAsync(Many).AsTask();
        Task<StatusCode[]> writing = client.WriteAsync([.. Many.Select(static id => KeyValuePair.Create(id, (Variant)1))]).AsTask();
        Task<BrowsedNode[]> browsing = client.BrowseAsync(Many).AsTask();
        Task<TranslatedPath[]> translating = client.TranslateBrowsePathsAsync(
            new NodeId(0, 84), [.. Many.Select(static _ => (IReadOnlyList<QualifiedName>)[new(0, "Objects")])]).AsTask();
        Task<NodeId[]> registering = client.RegisterNodesAsync(Many).AsTask();
        Task<IReadOnlyList<OpcUaMonitoredItem>> adding =
            subscription.AddItemsAsync([.. Many.Select(static id => new MonitoredItemOptions(id))]).AsTask();
        Assert.Empty(await subscription.RemoveItemsAsync([]));
        await using TestServer next = await StartLimitedAsync(url);

        AssertGood((await reading.InTimeAsync()).Select(static value => value.Status));
        AssertGood(await writing.InTimeAsync());
        AssertGood((await browsing.InTimeAsync()).Select(static node => node.Status));
        AssertGood((await translating.InTimeAsync()).Select(static path => path.Status));
        Assert.Equal(Many.Length, (await registering.InTimeAsync()).Length);
        AssertGood((await adding.InTimeAsync()).Select(static item => item.Status));
    }

    [Fact]
    public async Task With_RetryConnect_the_first_request_goes_in_as_many_as_the_server_wants()
    {
        TestServer before = await StartAsync(5);
        string url = before.Url;
        await before.DisposeAsync();
        TimeSpan soon = TimeSpan.FromMilliseconds(10);
        await using OpcUaClient client = OpcUaClient.Create(
            new OpcUaClientOptions { EndpointUrl = url, RetryConnect = true, ReconnectDelay = soon, MaxReconnectDelay = soon },
            loggerFactory: null,
            time: null);
        await client.StartAsync(CancellationToken.None);
        Task<DataValue[]> reading = client.ReadAsync(Many).AsTask();
        Assert.False(reading.IsCompleted);

        await using TestServer server = await StartLimitedAsync(url);

        AssertGood((await reading.InTimeAsync()).Select(static value => value.Status));
    }

    private static void AssertGood(IEnumerable<StatusCode> statuses) =>
        Assert.Equal(Enumerable.Repeat(StatusCodes.Good, Many.Length), statuses);

    private static Task<TestServer> StartLimitedAsync(string url) => TestServer.StartAsync(
        static space => Array.ForEach(
            Many, id => space.AddVariable(AddressSpace.ObjectsFolder, id, $"{id}", 0, writable: true)),
        o =>
        {
            o.Endpoints[0] = url;
            (o.MaxNodesPerRead, o.MaxNodesPerWrite, o.MaxNodesPerBrowse, o.MaxMonitoredItemsPerCall) = (Limit, Limit, Limit, Limit);
        });
}
