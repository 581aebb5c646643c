using System.Net;
using System.Net.Sockets;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>Servers whose answers have no end, are too large, or end things with a good status.</summary>
public sealed class HostileServerTests : IAsyncLifetime
{
    private readonly ScriptedServer _server = new();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    [Theory]
    [InlineData(3000)]
    [InlineData(0)]
    public async Task References_without_end_are_given_up(int perAnswer)
    {
        var released = new TaskCompletionSource<ByteString>(TaskCreationOptions.RunContinuationsAsynchronously);
        ReferenceDescription[] references = [.. Enumerable.Repeat(new ReferenceDescription(), perAnswer)];
        var endless = new BrowseResult { References = references, ContinuationPoint = new ByteString([1]) };
        _server.On<BrowseRequest>(call => call.ReplyAsync(new BrowseResponse
        {
            // The second one has an end.
            Results = [endless, new BrowseResult { References = [new ReferenceDescription()] }],
        }));
        _server.On<BrowseNextRequest>(call =>
        {
            BrowseNextRequest request = call.Request<BrowseNextRequest>();
            if (request.ReleaseContinuationPoints)
            {
                released.TrySetResult(request.ContinuationPoints![0]);
            }

            return call.ReplyAsync(new BrowseNextResponse { Results = [endless] });
        });
        await using OpcUaClient client = await _server.ConnectAsync();

        BrowsedNode[] browsed = await client.BrowseAsync([new NodeId(1, 1), new NodeId(1, 2)]);

        Assert.Equal((StatusCodes.BadTooManyMatches, 0), (browsed[0].Status, browsed[0].References.Count));
        Assert.Equal((StatusCodes.Good, 1), (browsed[1].Status, browsed[1].References.Count));
        Assert.Equal(1, (await released.Task.InTimeAsync()).Length);
    }

    [Fact]
    public async Task The_references_of_all_nodes_of_a_request_count_together()
    {
        const int Nodes = 10;
        const int PerNode = 300;
        int answers = 0;
        ReferenceDescription[] references = [.. Enumerable.Repeat(new ReferenceDescription(), PerNode)];
        BrowseResult[] endless =
            [.. Enumerable.Repeat(new BrowseResult { References = references, ContinuationPoint = new ByteString([1]) }, Nodes)];
        _server.On<BrowseRequest>(call =>
        {
            answers++;
            return call.ReplyAsync(new BrowseResponse { Results = endless });
        });
        _server.On<BrowseNextRequest>(call =>
        {
            answers += call.Request<BrowseNextRequest>().ReleaseContinuationPoints ? 0 : 1;
            return call.ReplyAsync(new BrowseNextResponse { Results = endless });
        });
        await using OpcUaClient client = await _server.ConnectAsync();

        BrowsedNode[] browsed = await client.BrowseAsync([.. Enumerable.Range(0, Nodes).Select(static i => new NodeId(1, (uint)i))]);

        Assert.All(browsed, static node => Assert.Equal((StatusCodes.BadTooManyMatches, 0), (node.Status, node.References.Count)));
        Assert.Equal(334, answers);
    }

    [Fact]
    public async Task Few_references_with_very_long_names_are_given_up_too()
    {
        const int Most = 4000;
        int answers = 0;
        var name = new string('x', 60_000);
        _server.On<BrowseRequest>(call => call.ReplyAsync(new BrowseResponse { Results = [Next()] }));
        _server.On<BrowseNextRequest>(call => call.ReplyAsync(new BrowseNextResponse { Results = [Next()] }));
        await using OpcUaClient client = await _server.ConnectAsync();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(async () => await client.BrowseAsync(new NodeId(1, 1)));

        Assert.Equal(StatusCodes.BadTooManyMatches, e.Status);

        BrowseResult Next() => new()
        {
            References = [new ReferenceDescription { BrowseName = name }],
            ContinuationPoint = ++answers < Most ? new ByteString([1]) : default,
        };
    }

    [Fact]
    public async Task Values_that_are_too_large_together_come_in_several_responses_and_one_that_is_alone_says_so()
    {
        await using OpcUaClient client = await _server.ConnectAsync();
        _server.On<ReadRequest>(call =>
        {
            ReadValueId[] nodes = call.Request<ReadRequest>().NodesToRead!;
            return nodes.Length > 2 || nodes[0].NodeId.Number == 4
                ? call.FaultAsync(StatusCodes.BadResponseTooLarge)
                : call.ReplyAsync(new ReadResponse { Results = [.. nodes.Select(static one => new DataValue(one.NodeId.Number))] });
        });

        DataValue[] values = await client.ReadAsync([.. Enumerable.Range(0, 8).Select(static i => new NodeId(1, (uint)i))]);

        Assert.Equal(
            Enumerable.Range(0, 8).Select(static i => i == 4 ? StatusCodes.BadResponseTooLarge : StatusCodes.Good),
            values.Select(static value => value.Status));
        Assert.Equal(
            [0u, 1u, 2u, 3u, 5u, 6u, 7u], values.Where(static value => value.Status.IsGood).Select(static v => v.Value.Get<uint>()));
    }

    [Fact]
    public async Task Missed_messages_without_end_that_hold_nothing_do_not_keep_the_client_from_coming_back()
    {
        var script = new ScriptedSubscription(_server);
        await using OpcUaClient client = await _server.ConnectAsync();
        await using OpcUaSubscription subscription = await client.SubscribeAsync();
        _server.On<RepublishRequest>(static call => call.ReplyAsync(new RepublishResponse
        {
            NotificationMessage = new NotificationMessage
            {
                SequenceNumber = call.Request<RepublishRequest>().RetransmitSequenceNumber,
            },
        }));
        var back = new TaskCompletionSource<SessionRecovery>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Connected += recovery => back.TrySetResult(recovery);

        _server.Cut();

        Assert.Equal(SessionRecovery.Resumed, await back.Task.InTimeAsync());
        Assert.Equal(1u, script.Id);
    }

    [Fact]
    public async Task More_messages_than_a_server_keeps_are_not_asked_for()
    {
        const int Most = 10_000;
        var script = new ScriptedSubscription(_server);
        await using OpcUaClient client = await _server.ConnectAsync();
        await using OpcUaSubscription subscription = await client.SubscribeAsync();
        OpcUaMonitoredItem item = Assert.Single(await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]));
        List<StatusCode> lost = [];
        subscription.ValuesLost += (_, why) => lost.Add(why);

        await script.PublishAsync(
            ScriptedSubscription.Message(1_000_000, item.Handle, 3), [.. Enumerable.Range(1, Most + 100).Select(static n => (uint)n)]);

        Assert.Equal([3], await subscription.NumbersAsync(1));
        Assert.Equal(Most, script.Republished.Count);
        Assert.Equal([StatusCodes.BadMessageNotAvailable], lost);
    }

    [Fact]
    public async Task An_array_that_fits_into_a_message_is_reported_whatever_its_length()
    {
        const int Length = (1024 * 1024) + 1;
        await using TestServer server = await TestServer.StartAsync(static space => space.AddVariable<bool>(
            AddressSpace.ObjectsFolder,
            new NodeId(2, 1),
            new QualifiedName(2, "long"),
            static () => new DataValue(Variant.FromArray(new bool[Length]))));
        await using OpcUaClient client = await server.ConnectAsync();
        await using OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(50) });
        var lost = new TaskCompletionSource<StatusCode>(TaskCreationOptions.RunContinuationsAsynchronously);
        subscription.ValuesLost += (_, why) => lost.TrySetResult(why);

        await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(2, 1))]);

        Task<DataChange> change = subscription.NextAsync();
        Assert.Same(change, await Task.WhenAny(change, lost.Task));
        Assert.Equal(Length, (await change).Value.Value.GetArray<bool>()!.Length);
        Assert.Equal(Length, (await client.ReadAsync([new NodeId(2, 1)]))[0].Value.GetArray<bool>()!.Length);
    }

    [Fact]
    public async Task A_value_that_takes_far_more_memory_than_its_message_is_refused()
    {
        const int Length = 3_000_000;
        await using TestServer server = await TestServer.StartAsync(static space => space.AddVariable<DataValue>(
            AddressSpace.ObjectsFolder,
            new NodeId(2, 1),
            new QualifiedName(2, "long"),
            static () => new DataValue(Variant.FromArray(new DataValue[Length]))));
        await using OpcUaClient client = await server.ConnectAsync();

        DataValue[] values = await client.ReadAsync([new NodeId(2, 1), new NodeId(0, 2258)]);

        Assert.Equal([StatusCodes.BadEncodingLimitsExceeded, StatusCodes.Good], values.Select(static value => value.Status));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task What_a_server_ends_with_a_good_status_is_no_answer(bool isChannel)
    {
        await using OpcUaClient client = await _server.ConnectAsync();
        _server.On<CreateSubscriptionRequest>(call => isChannel ? call.EndAsync(default) : call.AbortAsync(default));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => client.SubscribeAsync().AsTask().InTimeAsync());

        Assert.Equal(StatusCodes.BadUnknownResponse, e.Status);
    }

    [Theory]
    [InlineData(double.NaN)]
    [InlineData(double.NegativeInfinity)]
    [InlineData(double.PositiveInfinity)]
    public async Task A_session_whose_timeout_is_no_time_is_used(double timeout)
    {
        _server.On<CreateSessionRequest>(call => call.ReplyAsync(
            new CreateSessionResponse { AuthenticationToken = new NodeId(1, 1), RevisedSessionTimeout = timeout }));

        await using OpcUaClient client = await _server.ConnectAsync();

        Assert.True(client.IsConnected);
    }

    /// <summary>Sent again, these would be done twice.</summary>
    [Fact]
    public async Task A_call_or_write_without_a_result_may_have_been_executed_unless_it_was_refused()
    {
        var node = new NodeId(1, 1);
        KeyValuePair<NodeId, Variant>[] values = [.. Enumerable.Range(0, 4).Select(i => KeyValuePair.Create(node, (Variant)i))];
        DiagnosticInfo deep = new() { SymbolicId = 1 };
        for (int i = 0; i < 20; i++)
        {
            deep = new DiagnosticInfo { InnerDiagnosticInfo = deep };
        }

        var results = new CallResponse { Results = [new CallMethodResult { InputArgumentDiagnosticInfos = [deep] }] };
        (Func<ScriptedCall, Task> Answer, StatusCode Call, StatusCode Write, bool MayHaveExecuted)[] cases =
        [
            Fault(StatusCodes.BadUserAccessDenied, false),
            Fault(StatusCodes.BadTimeout, true),
            Fault(StatusCodes.BadRequestTimeout, true),
            Fault(StatusCodes.BadResponseTooLarge, true),
            Both(
                static call => call.AbortAsync(new ErrorMessage { Error = StatusCodes.BadTcpInternalError }),
                StatusCodes.BadTcpInternalError),

            // Of the wrong type for one, without results for the other.
            Both(static call => call.ReplyAsync(default(CallResponse)), StatusCodes.BadUnknownResponse),
            Both(static call => call.ReplyAsync(default(WriteResponse)), StatusCodes.BadUnknownResponse),
            Both(
                call => call.ReplyAsync(default(WriteResponse), new ResponseHeader { ServiceDiagnostics = deep }),
                StatusCodes.BadEncodingLimitsExceeded),
            (call => call.ReplyAsync(results), StatusCodes.BadEncodingLimitsExceeded, StatusCodes.BadUnknownResponse, true),
        ];
        int requests = 0;
        await using OpcUaClient client = await _server.ConnectAsync();
        foreach ((Func<ScriptedCall, Task> answer, StatusCode call, StatusCode write, bool mayHaveExecuted) in cases)
        {
            Task CountAsync(ScriptedCall request)
            {
                Interlocked.Increment(ref requests);
                return answer(request);
            }

            _server.On<CallRequest>(CountAsync);
            _server.On<WriteRequest>(CountAsync);
            OpcUaException called = await Assert.ThrowsAsync<OpcUaException>(() => client.CallAsync(node, node, []).InTimeAsync());
            OpcUaException written = await Assert.ThrowsAsync<OpcUaException>(() => client.WriteAsync(values).InTimeAsync());

            Assert.Equal((call, mayHaveExecuted), (called.Status, called.MayHaveExecuted));
            Assert.Equal((write, mayHaveExecuted), (written.Status, written.MayHaveExecuted));
        }

        // None was sent in parts.
        Assert.Equal(2 * cases.Length, requests);

        static (Func<ScriptedCall, Task> Answer, StatusCode Call, StatusCode Write, bool MayHaveExecuted) Fault(
            StatusCode status, bool mayHaveExecuted) => (call => call.FaultAsync(status), status, status, mayHaveExecuted);

        static (Func<ScriptedCall, Task> Answer, StatusCode Call, StatusCode Write, bool MayHaveExecuted) Both(
            Func<ScriptedCall, Task> answer, StatusCode status) => (answer, status, status, true);
    }

    [Fact]
    public async Task A_client_that_takes_small_messages_sends_chunks_of_any_size()
    {
        await using OpcUaClient client = await _server.ConnectAsync(
            new OpcUaClientOptions { MaxMessageBytes = 8192, ConnectTimeout = Patience.Limit, Reconnect = false });

        Assert.True(client.IsConnected);
    }

    [Fact]
    public async Task A_reason_of_the_server_breaks_no_line_and_is_cut()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Task serving = Task.Run(async () =>
        {
            using TcpClient peer = await listener.AcceptTcpClientAsync(TestContext.Current.CancellationToken);
            await peer.GetStream().ReadExactlyAsync(new byte[8]);
            using var connection = new ScriptedConnection(peer, []);
            await connection.EndAsync(new ErrorMessage { Error = StatusCodes.BadTcpServerTooBusy, Reason = $"a\n{new string('x', 5000)}" });
            await peer.GetStream().CopyToAsync(Stream.Null);
        });

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => OpcUaClient.GetEndpointsAsync($"opc.tcp://{listener.LocalEndpoint}").InTimeAsync());

        Assert.Equal(StatusCodes.BadTcpServerTooBusy, e.Status);
        Assert.Contains(@"a\u000Axxx", e.Message, StringComparison.Ordinal);
        Assert.InRange(e.Message.Length, 256, 500);
        await serving;
    }

    [Fact]
    public async Task Policies_that_the_server_offers_break_no_line_and_are_cut()
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        _server.On<GetEndpointsRequest>(static call => call.ReplyAsync(new GetEndpointsResponse
        {
            Endpoints = [new EndpointDescription { SecurityPolicyUri = $"a\n{new string('x', 10_000)}" }],
        }));
        var options = new OpcUaClientOptions
        {
            SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256,
            Certificates = { Directory = folder, UnsafeTrustAll = true },
        };

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => _server.ConnectAsync(options));

        Assert.Equal(StatusCodes.BadSecurityPolicyRejected, e.Status);
        Assert.Contains(@"it offers a\u000Axxx", e.Message, StringComparison.Ordinal);
        Assert.InRange(e.Message.Length, 1024, 1500);
        Directory.Delete(folder, recursive: true);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("urn:other")]
    public async Task A_certificate_must_have_the_URI_that_its_server_says(string? uri)
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        using var certificate = ApplicationCertificate.Create("urn:server", "server", ["127.0.0.1"], TimeProvider.System.GetUtcNow());
        string trusted = Directory.CreateDirectory(Path.Combine(folder, "trusted")).FullName;
        await File.WriteAllBytesAsync(Path.Combine(trusted, "server.der"), certificate.Der, TestContext.Current.CancellationToken);
        _server.On<GetEndpointsRequest>(call => call.ReplyAsync(new GetEndpointsResponse
        {
            Endpoints =
            [
                new EndpointDescription
                {
                    Server = new ApplicationDescription { ApplicationUri = uri },
                    ServerCertificate = certificate.Der,
                    SecurityMode = MessageSecurityMode.SignAndEncrypt,
                    SecurityPolicyUri = SecurityPolicy.Basic256Sha256.Uri,
                },
            ],
        }));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => _server.ConnectAsync(new OpcUaClientOptions
        {
            SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256,
            Certificates = { Directory = folder },
        }));

        Assert.Equal(StatusCodes.BadCertificateUriInvalid, e.Status);
        Directory.Delete(folder, recursive: true);
    }

    [Fact]
    public async Task Discovery_that_is_given_up_leaves_no_connection()
    {
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.On<GetEndpointsRequest>(_ =>
        {
            asked.SetResult();
            return Task.CompletedTask;
        });
        using var giveUp = new CancellationTokenSource();
        Task<IReadOnlyList<EndpointDescription>> discovery =
            OpcUaClient.GetEndpointsAsync(_server.Url, cancellationToken: giveUp.Token);
        await asked.Task.InTimeAsync();

        await giveUp.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => discovery.InTimeAsync());
        await Patience.UntilAsync(() => _server.ConnectionCount == 0, "the connection has ended");
    }
}
