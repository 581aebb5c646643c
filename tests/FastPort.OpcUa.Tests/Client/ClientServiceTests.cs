using System.Security.Cryptography;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>Discovery, paths, registered nodes, namespaces, cancellation, byte strings of a pool, options.</summary>
public sealed class ClientServiceTests
{
    private static readonly NodeId Number = new(2, 1);

    [Fact]
    public async Task A_server_is_asked_for_itself_and_its_endpoints_without_a_session()
    {
        await using TestServer server = await TestServer.StartAsync();

        IReadOnlyList<EndpointDescription> endpoints = await OpcUaClient.GetEndpointsAsync(server.Url);
        IReadOnlyList<ApplicationDescription> servers = await OpcUaClient.FindServersAsync(server.Url);

        Assert.Equal((server.Url, SecurityPolicy.None.Uri), (Assert.Single(endpoints).EndpointUrl, endpoints[0].SecurityPolicyUri));
        Assert.Equal(endpoints[0].Server.ApplicationUri, Assert.Single(servers).ApplicationUri);
        Assert.Equal(0, server.Server.SessionCount);
    }

    [Fact]
    public async Task A_client_in_the_servers_process_needs_no_socket()
    {
        string url = $"inproc://{Guid.NewGuid():N}";
        await using TestServer server = await StartAsync(o => o.Endpoints[0] = url);
        await using OpcUaClient client = await server.ConnectAsync();

        DataValue[] values = await client.ReadAsync(await client.RegisterNodesAsync([Number]));

        Assert.Equal(url, server.Url);
        Assert.Equal(StatusCodes.Good, Assert.Single(values).Status);
    }

    [Fact]
    public async Task Paths_lead_to_nodes()
    {
        await using TestServer server = await StartAsync();
        await using OpcUaClient client = await server.ConnectAsync();

        TranslatedPath[] paths = await client.TranslateBrowsePathsAsync(
            new NodeId(0, 84),
            [[new(0, "Objects"), new(2, "Number")], [new(0, "Objects"), new(2, "Nothing")], [new(0, "Objects")]]);

        Assert.Equal([StatusCodes.Good, StatusCodes.BadNoMatch, StatusCodes.Good], paths.Select(static p => p.Status));
        Assert.Equal((Number, new NodeId(0, 85)), (paths[0].Target.NodeId, paths[2].Target.NodeId));
    }

    [Fact]
    public async Task Nodes_can_be_registered()
    {
        await using TestServer server = await StartAsync();
        await using OpcUaClient client = await server.ConnectAsync();

        NodeId[] ids = await client.RegisterNodesAsync([Number, new NodeId(0, 2258)]);

        Assert.All(await client.ReadAsync(ids), static v => Assert.Equal(StatusCodes.Good, v.Status));
        await client.UnregisterNodesAsync(ids);
    }

    [Fact]
    public async Task Namespaces_map_uris_to_indexes()
    {
        await using TestServer server = await StartAsync();
        await using OpcUaClient client = await server.ConnectAsync();
        NamespaceTable namespaces = client.Namespaces;

        Assert.Equal("urn:fastport:test", namespaces.Uris[2]);
        Assert.Equal(Number, namespaces.MakeId("urn:fastport:test", 1));
        Assert.Equal(new NodeId(2, "a"), namespaces.MakeId("urn:fastport:test", "a"));
        var expanded = new ExpandedNodeId(new NodeId(7, 1), "urn:fastport:test");
        Assert.Equal(Number, namespaces.MakeId(expanded));
        Assert.Equal("urn:fastport:test", namespaces.Expand(Number).NamespaceUri);
        Assert.Equal(Number, namespaces.MakeId(namespaces.Expand(Number)));
        Assert.Equal(new NodeId(0, 5), namespaces.MakeId(new NodeId(0, 5)));
        Assert.False(namespaces.TryGetIndex("urn:none", out _));
        OpcUaException e = Assert.Throws<OpcUaException>(() => namespaces.MakeId("urn:none", 1));
        Assert.Equal(StatusCodes.BadNodeIdUnknown, e.Status);
        Assert.Throws<OpcUaException>(() => namespaces.MakeId(new ExpandedNodeId(Number, ServerIndex: 1)));
    }

    [Fact]
    public async Task A_request_that_is_given_up_is_canceled_at_the_server()
    {
        await using var server = new ScriptedServer();
        var handle = new TaskCompletionSource<uint>(TaskCreationOptions.RunContinuationsAsynchronously);
        var canceled = new TaskCompletionSource<uint>(TaskCreationOptions.RunContinuationsAsynchronously);
        server.On<CallRequest>(call =>
        {
            handle.TrySetResult(call.Header.RequestHandle);
            return Task.CompletedTask;
        });
        server.On<CancelRequest>(call =>
        {
            canceled.TrySetResult(call.Request<CancelRequest>().RequestHandle);
            return call.ReplyAsync(new CancelResponse { CancelCount = 1 });
        });
        await using OpcUaClient client = await server.ConnectAsync();
        using var given = new CancellationTokenSource();
        Task<MethodCallResult> call = client.CallAsync(Number, Number, [], given.Token).AsTask();
        uint expected = await handle.Task.InTimeAsync();

        await given.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.InTimeAsync());
        Assert.Equal(expected, await canceled.Task.InTimeAsync());
    }

    [Fact]
    public async Task A_browse_that_is_given_up_leaves_no_continuation_point()
    {
        await using var server = new ScriptedServer();
        byte[] point = [1, 2, 3];
        using var given = new CancellationTokenSource();
        var released = new TaskCompletionSource<ByteString>(TaskCreationOptions.RunContinuationsAsynchronously);
        server.On<BrowseRequest>(call => call.ReplyAsync(
            new BrowseResponse { Results = [new BrowseResult { ContinuationPoint = point }] }));
        server.On<BrowseNextRequest>(call =>
        {
            var request = call.Request<BrowseNextRequest>();
            if (!request.ReleaseContinuationPoints)
            {
                return given.CancelAsync();
            }

            released.TrySetResult(request.ContinuationPoints![0]);
            return call.ReplyAsync(new BrowseNextResponse { Results = [default] });
        });
        await using OpcUaClient client = await server.ConnectAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => client.BrowseAsync(Number, cancellationToken: given.Token).InTimeAsync());

        Assert.Equal(new ByteString(point), await released.Task.InTimeAsync());
    }

    [Fact]
    public async Task Items_that_are_given_up_while_the_server_makes_them_are_deleted()
    {
        await using var server = new ScriptedServer();
        var scripted = new ScriptedSubscription(server);
        var created = new TaskCompletionSource<ScriptedCall>(TaskCreationOptions.RunContinuationsAsynchronously);
        var deleted = new TaskCompletionSource<DeleteMonitoredItemsRequest>(TaskCreationOptions.RunContinuationsAsynchronously);
        server.On<CreateMonitoredItemsRequest>(call =>
        {
            created.SetResult(call);
            return Task.CompletedTask;
        });
        server.On<DeleteMonitoredItemsRequest>(call =>
        {
            deleted.SetResult(call.Request<DeleteMonitoredItemsRequest>());
            return call.ReplyAsync(new DeleteMonitoredItemsResponse { Results = [StatusCodes.Good] });
        });
        await using OpcUaClient client = await server.ConnectAsync();
        await using OpcUaSubscription subscription = await client.SubscribeAsync();
        using var given = new CancellationTokenSource();
        Task adding = subscription.AddItemsAsync([new(Number), new(Number)], given.Token).AsTask();
        ScriptedCall call = await created.Task.InTimeAsync();

        await given.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => adding.InTimeAsync());
        await call.ReplyAsync(new CreateMonitoredItemsResponse
        {
            Results = [new() { MonitoredItemId = 7 }, new() { StatusCode = StatusCodes.BadNodeIdUnknown }],
        });

        DeleteMonitoredItemsRequest request = await deleted.Task.InTimeAsync();
        Assert.Equal((scripted.Id, 7u), (request.SubscriptionId, Assert.Single(request.MonitoredItemIds!)));
        Assert.Empty(subscription.Items);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(5_000_000)]
    public async Task Byte_strings_of_a_pool_are_valid_until_they_are_disposed(int length)
    {
        byte[] bytes = RandomNumberGenerator.GetBytes(length);
        await using TestServer server = await TestServer.StartAsync(space =>
        {
            space.AddVariable(AddressSpace.ObjectsFolder, Number, "Bytes", new ByteString(bytes));
            space.AddMethod(
                AddressSpace.ObjectsFolder, new NodeId(2, 2), "Get", [], [],
                (_, _) => ValueTask.FromResult(new MethodResult(StatusCodes.Good, [new ByteString(bytes)])));
        });
        await using OpcUaClient client = await server.ConnectAsync();

        PooledResult<DataValue[]> read = await client.ReadPooledAsync([Number, new NodeId(2, 99)]);
        using PooledResult<MethodCallResult> called =
            await client.CallPooledAsync(AddressSpace.ObjectsFolder, new NodeId(2, 2), []);

        Assert.Equal(bytes, read.Value[0].Value.Get<ByteString>().Span);
        Assert.Equal(StatusCodes.BadNodeIdUnknown, read.Value[1].Status);
        Assert.Equal(bytes, called.Value.Outputs[0].Get<ByteString>().Span);
        read.Dispose();
        read.Dispose();
        Assert.Throws<ObjectDisposedException>(() => read.Value);
        Assert.Equal(bytes, called.Value.Outputs[0].Get<ByteString>().Span);
    }

    [Fact]
    public async Task Options_are_checked_at_once_and_each_problem_is_named()
    {
        var options = new OpcUaClientOptions
        {
            ApplicationUri = "abc",
            SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256,
            SecurityMode = MessageSecurityMode.None,
            RequestTimeout = TimeSpan.Zero,
            ReconnectDelay = TimeSpan.FromSeconds(2),
            MaxReconnectDelay = TimeSpan.FromSeconds(1),
            MaxChunkBytes = 100,
            MaxPublishRequests = 0,
        };

        FastPortOptionsException e = await Assert.ThrowsAsync<FastPortOptionsException>(
            () => OpcUaClient.ConnectAsync("opc.tcp://127.0.0.1:1", options));

        string[] keys = ["MaxReconnectDelay", "ApplicationUri", "SecurityMode", "RequestTimeout", "MaxPublishRequests", "MaxChunkBytes"];
        Assert.Equal(keys, e.Problems.Select(static p => p.Split([':', ' '])[1]));
        Assert.Equal("OpcUaClient:MaxChunkBytes is 100; allowed: 8192 to 1048576.", e.Problems[^1]);
        Assert.Empty(new OpcUaClientOptions().Validate());
        await Assert.ThrowsAsync<FormatException>(() => OpcUaClient.ConnectAsync("no endpoint"));
    }

    [Fact]
    public async Task A_server_that_gives_no_session_in_time_is_given_up()
    {
        await using var server = new ScriptedServer();
        server.On<CreateSessionRequest>(static _ => Task.CompletedTask);

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => server.ConnectAsync(new OpcUaClientOptions { ConnectTimeout = TimeSpan.FromMilliseconds(100) }));

        Assert.Equal(StatusCodes.BadTimeout, e.Status);
    }

    private static Task<TestServer> StartAsync(Action<OpcUaServerOptions>? configure = null) => TestServer.StartAsync(
        static space => space.AddVariable(AddressSpace.ObjectsFolder, Number, new QualifiedName(2, "Number"), 5), configure);

    /// <summary>OPC 10000-6, 7.1.4: a client that only closes the connection looks like one that was lost.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_client_says_that_it_closes_its_channel(bool isDiscovery)
    {
        await using TestServer server = await TestServer.StartAsync();
        List<(uint Type, byte[] Chunk)> chunks = [];
        await using (var relay = new ChunkRelay(server, (type, _, chunk) =>
        {
            chunks.Add((type, chunk));
            return [chunk];
        }))
        {
            if (isDiscovery)
            {
                Assert.NotEmpty(await OpcUaClient.GetEndpointsAsync(relay.Url, cancellationToken: TestContext.Current.CancellationToken));
            }
            else
            {
                OpcUaClient client = await OpcUaClient.ConnectAsync(
                    relay.Url, cancellationToken: TestContext.Current.CancellationToken);
                await client.DisposeAsync();
            }
        }

        Assert.Equal(MessageType.Close, chunks[^1].Type);
        Assert.Single(chunks, static one => one.Type == MessageType.Close);
        var decoder = new BinaryDecoder(chunks[^1].Chunk.AsSpan(24), EncodingLimits.Default);
        Assert.Equal(new NodeId(0, CloseSecureChannelRequest.EncodingId), decoder.ReadNodeId());
        decoder.ReadStructure<RequestHeader>();
        Assert.Equal((StatusCodes.Good, 0), (decoder.Error, decoder.Left));
    }
}
