using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>A server that takes a few operations in a request, and does not say so before it refuses.</summary>
public sealed class UndeclaredLimitTests : IAsyncLifetime
{
    private const int Limit = 50;
    private const int Count = 1000;

    // The first of Count, Count / 2 and so on that the server takes.
    private const int Taken = 31;

    private static readonly NodeId[] Nodes = [.. Enumerable.Range(0, Count).Select(static i => new NodeId(1, (uint)i))];

    private readonly ScriptedServer _server = new();
    private readonly RecordingLog _log = new();
    private readonly List<int> _sizes = [];
    private OpcUaClient _client = null!;

    public async ValueTask InitializeAsync() => _client = await OpcUaClient.ConnectAsync(
        _server.Url, new OpcUaClientOptions { ReconnectDelay = TimeSpan.FromMilliseconds(1) }, _log);

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task Reads_are_halved_until_the_server_takes_them_and_stay_so_on_the_next_connection()
    {
        Serve<ReadRequest, ReadResponse>(
            static request => request.NodesToRead!.Length,
            static request => new ReadResponse
            {
                Results = [.. request.NodesToRead!.Select(static one => new DataValue(one.NodeId.Number))],
            });

        DataValue[] values = await _client.ReadAsync(Nodes);

        Assert.Equal(Nodes.Select(static node => node.Number), values.Select(static value => value.Value.Get<uint>()));
        AssertRemembered();
        await _client.ReadAsync(Nodes);
        AssertRemembered();
    }

    [Fact]
    public async Task What_was_found_out_is_said_once_and_holds_for_the_next_session()
    {
        Serve<WriteRequest, WriteResponse>(
            static request => request.NodesToWrite!.Length,
            static request => new WriteResponse { Results = new StatusCode[request.NodesToWrite!.Length] });
        KeyValuePair<NodeId, Variant>[] writes = [.. Nodes.Select(static node => KeyValuePair.Create(node, (Variant)1))];

        Assert.All(await _client.WriteAsync(writes), static status => Assert.Equal(StatusCodes.Good, status));
        AssertRemembered();

        var back = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _client.Connected += _ => back.TrySetResult();
        _server.Cut();
        await back.Task.InTimeAsync();
        await _client.WriteAsync(writes);

        AssertRemembered();
        Assert.Contains("refuses 1000 operations in a request (Write)", Assert.Single(_log.WithId(7110)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Browses_paths_and_registrations_are_halved()
    {
        Serve<BrowseRequest, BrowseResponse>(
            static request => request.NodesToBrowse!.Length,
            static request => new BrowseResponse
            {
                Results =
                [
                    .. request.NodesToBrowse!.Select(static one => new BrowseResult
                    {
                        References = [new ReferenceDescription { NodeId = one.NodeId }],
                    }),
                ],
            });
        BrowsedNode[] browsed = await _client.BrowseAsync(Nodes);
        Assert.Equal(Nodes, browsed.Select(static one => Assert.Single(one.References).NodeId.NodeId));
        Assert.True(_sizes.Count(static size => size > Limit) == 1, "the limit was forgotten");

        Serve<TranslateBrowsePathsRequest, TranslateBrowsePathsResponse>(
            static request => request.BrowsePaths!.Length,
            static request => new TranslateBrowsePathsResponse { Results = new BrowsePathResult[request.BrowsePaths!.Length] });
        IReadOnlyList<QualifiedName>[] paths = [.. Enumerable.Repeat<IReadOnlyList<QualifiedName>>([new QualifiedName(1, "x")], Count)];
        Assert.Equal(Count, (await _client.TranslateBrowsePathsAsync(new NodeId(0, 85), paths)).Length);
        AssertRemembered();

        Serve<RegisterNodesRequest, RegisterNodesResponse>(
            static request => request.NodesToRegister!.Length,
            static request => new RegisterNodesResponse { RegisteredNodeIds = request.NodesToRegister });
        Assert.Equal(Nodes, await _client.RegisterNodesAsync(Nodes));
        AssertRemembered();
    }

    [Fact]
    public async Task Monitored_items_are_halved()
    {
        var script = new ScriptedSubscription(_server);
        await using OpcUaSubscription subscription = await _client.SubscribeAsync();
        uint last = 0;
        Serve<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(
            static request => request.ItemsToCreate!.Length,
            request => new CreateMonitoredItemsResponse
            {
                Results = [.. request.ItemsToCreate!.Select(_ => new MonitoredItemCreateResult { MonitoredItemId = ++last })],
            });

        IReadOnlyList<OpcUaMonitoredItem> items =
            await subscription.AddItemsAsync([.. Nodes.Select(static node => new MonitoredItemOptions(node))]);

        Assert.All(items, static item => Assert.Equal(StatusCodes.Good, item.Status));
        AssertRemembered();
        Serve<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(
            static request => request.MonitoredItemIds!.Length,
            static request => new DeleteMonitoredItemsResponse { Results = new StatusCode[request.MonitoredItemIds!.Length] });
        await subscription.RemoveItemsAsync(items);
        Assert.All(_sizes, static size => Assert.InRange(size, 1, Limit));
        Assert.Equal(1u, script.Id);
    }

    /// <summary>Of as many as a client has, the server takes a few at a time when they come to another session.</summary>
    [Fact]
    public async Task Transfers_and_deletions_of_subscriptions_are_halved()
    {
        _ = new ScriptedSubscription(_server);
        List<OpcUaSubscription> all = [];
        for (int i = 0; i < 2 * Limit; i++)
        {
            all.Add(await _client.SubscribeAsync());
        }

        uint[] ids = [.. all.Select(static one => one.Id)];
        List<uint> transferred = [];
        Serve<TransferSubscriptionsRequest, TransferSubscriptionsResponse>(
            static request => request.SubscriptionIds!.Length,
            request =>
            {
                transferred.AddRange(request.SubscriptionIds!);
                return new TransferSubscriptionsResponse { Results = new TransferResult[request.SubscriptionIds!.Length] };
            });
        _server.StartTime = null;
        _server.On<ActivateSessionRequest>(static call => call.Header.AuthenticationToken == new NodeId(1, 1)
            ? call.FaultAsync(StatusCodes.BadSessionIdInvalid)
            : call.ReplyAsync(default(ActivateSessionResponse)));

        Assert.Equal(SessionRecovery.Replaced, await ReconnectAsync(static () => { }));
        Assert.Equal(ids, transferred);
        Assert.Equal(ids, all.Select(static one => one.Id));
        Assert.Equal([100, 50, 50], _sizes);

        // Those that nobody wants any more go when the client is back with their session.
        _server.On<ActivateSessionRequest>(static call => call.ReplyAsync(default(ActivateSessionResponse)));
        List<uint> deleted = [];
        Serve<DeleteSubscriptionsRequest, DeleteSubscriptionsResponse>(
            static request => request.SubscriptionIds!.Length,
            request =>
            {
                deleted.AddRange(request.SubscriptionIds!);
                return new DeleteSubscriptionsResponse { Results = new StatusCode[request.SubscriptionIds!.Length] };
            });
        Assert.Equal(SessionRecovery.Resumed, await ReconnectAsync(() => all.ForEach(static one => _ = one.DisposeAsync().AsTask())));
        Assert.Equal(ids.Order(), deleted.Order());
        Assert.All(_sizes, static size => Assert.InRange(size, 1, Limit));
        Assert.Contains("(Subscriptions)", Assert.Single(_log.WithId(7110)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task One_operation_that_is_refused_fails()
    {
        _server.On<WriteRequest>(static call => call.FaultAsync(StatusCodes.BadTooManyOperations));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            async () => await _client.WriteAsync([KeyValuePair.Create(new NodeId(1, 1), (Variant)1)]));

        Assert.Equal(StatusCodes.BadTooManyOperations, e.Status);
    }

    // What is done while there is no connection comes before the next one.
    private async Task<SessionRecovery> ReconnectAsync(Action away)
    {
        var back = new TaskCompletionSource<SessionRecovery>(TaskCreationOptions.RunContinuationsAsynchronously);
        Action<SessionRecovery> onConnected = recovery => back.TrySetResult(recovery);
        Action<CloseReason> onDisconnected = _ => away();
        _client.Connected += onConnected;
        _client.Disconnected += onDisconnected;
        _server.Cut();
        SessionRecovery recovery = await back.Task.InTimeAsync();
        _client.Connected -= onConnected;
        _client.Disconnected -= onDisconnected;
        return recovery;
    }

    private void Serve<TRequest, TResponse>(Func<TRequest, int> sizeOf, Func<TRequest, TResponse> answer)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        _sizes.Clear();
        _server.On<TRequest>(call =>
        {
            TRequest request = call.Request<TRequest>();
            lock (_sizes)
            {
                _sizes.Add(sizeOf(request));
            }

            return sizeOf(request) > Limit ? call.FaultAsync(StatusCodes.BadTooManyOperations) : call.ReplyAsync(answer(request));
        });
    }

    // Halved five times in all, however often the client has asked since.
    private void AssertRemembered()
    {
        Assert.Equal([1000, 500, 250, 125, 62], _sizes.Where(static size => size > Limit));
        Assert.Contains(Taken, _sizes);
    }
}
