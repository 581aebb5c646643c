using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>What a client does when its connection ends, and what becomes of requests.</summary>
public sealed partial class ReconnectTests
{
    private static readonly NodeId Number = new(2, 1);

    private static readonly OpcUaClientOptions Quick = new() { ReconnectDelay = TimeSpan.FromMilliseconds(1) };

    private readonly FakeTimeProvider _time = new();

    [Fact]
    public async Task When_the_server_restarts_requests_and_subscriptions_go_on()
    {
        using var port = new HeldPort();
        TestServer server = await StartAsync(5, port.Number);
        await using OpcUaClient client = await server.ConnectAsync(Quick);
        await using OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(10) });
        await subscription.AddItemsAsync([new MonitoredItemOptions(Number)]);
        Assert.Equal([5], await subscription.NumbersAsync(1));
        Events events = new(client);

        await server.DisposeAsync();
        await events.Disconnected.InTimeAsync();
        Assert.False(client.IsConnected);
        Task<DataValue[]> waiting = client.ReadAsync([Number]).AsTask();
        await using TestServer next = await StartAsync(6, port.Number);

        Assert.Equal(6, (await waiting.InTimeAsync())[0].Value.Get<int>());
        Assert.Equal(SessionRecovery.Replaced, await events.Reconnected.InTimeAsync());
        Assert.Equal([6], await subscription.NumbersAsync(1));
        Assert.True(client.IsConnected);
    }

    /// <summary>Ids of subscriptions may begin anew with the server, and its users be the same.</summary>
    [Fact]
    public async Task After_a_restart_no_client_gets_the_subscription_of_another_one()
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        var other = new NodeId(2, 2);
        VariableNode second = null!;
        using var port = new HeldPort();
        TestServer server = await StartTwoAsync(5, 50, port.Number);
        await using (var relay = new TcpRelay(port.Number))
        {
            await using OpcUaClient a = await OpcUaClient.ConnectAsync(relay.Url, Options());
            await using OpcUaClient b = await server.ConnectAsync(Options());
            await using OpcUaSubscription ofA = await WatchAsync(a, Number, 5);
            await using OpcUaSubscription ofB = await WatchAsync(b, other, 50);
            Events eventsOfA = new(a);
            Events eventsOfB = new(b);
            var isBack = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            relay.Admission = isBack.Task;
            await server.DisposeAsync();
            await eventsOfA.Disconnected.InTimeAsync();

            await using TestServer next = await StartTwoAsync(6, 60, port.Number);
            Assert.Equal(SessionRecovery.Replaced, await eventsOfB.Reconnected.InTimeAsync());
            Assert.Equal([60], await ofB.NumbersAsync(1));
            isBack.SetResult();
            Assert.Equal(SessionRecovery.Replaced, await eventsOfA.Reconnected.InTimeAsync());

            Assert.Equal([6], await ofA.NumbersAsync(1));
            second.Value = new DataValue(61);
            Assert.Equal([61], await ofB.NumbersAsync(1));
        }

        Directory.Delete(folder, recursive: true);

        Task<TestServer> StartTwoAsync(int one, int two, int at) => TestServer.StartAsync(
            space =>
            {
                space.AddVariable(AddressSpace.ObjectsFolder, Number, "Number", one);
                second = space.AddVariable(AddressSpace.ObjectsFolder, other, "Other", two);
            },
            o =>
            {
                o.Endpoints[0] = $"opc.tcp://127.0.0.1:{at}/test";
                o.Certificates.Directory = Path.Combine(folder, "server");
                o.ValidateUser = static (_, _, _) => new(true);
            });

        OpcUaClientOptions Options() => new()
        {
            ReconnectDelay = TimeSpan.FromMilliseconds(1),
            UserName = "anna",
            Certificates = { Directory = Path.Combine(folder, "client"), UnsafeTrustAll = true },
        };

        static async Task<OpcUaSubscription> WatchAsync(OpcUaClient client, NodeId node, int value)
        {
            OpcUaSubscription subscription = await client.SubscribeAsync(
                new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(10) });
            await subscription.AddItemsAsync([new MonitoredItemOptions(node)]);
            Assert.Equal([value], await subscription.NumbersAsync(1));
            return subscription;
        }
    }

    [Theory]
    [InlineData(OpcUaSecurityPolicy.None)]
    [InlineData(OpcUaSecurityPolicy.Basic256Sha256)]
    public async Task When_the_network_breaks_the_session_is_resumed(OpcUaSecurityPolicy policy)
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        await using TestServer server = await StartAsync(5, configure: o =>
        {
            o.SecurityPolicies = [policy];
            o.Certificates.Directory = Path.Combine(folder, "server");
            o.Certificates.UnsafeTrustAll = true;
        });
        await using (var relay = new TcpRelay(server.Server.Endpoints[0].Port))
        {
            var options = new OpcUaClientOptions { ReconnectDelay = TimeSpan.FromMilliseconds(1), SecurityPolicy = policy };
            options.Certificates.Directory = Path.Combine(folder, "client");
            options.Certificates.UnsafeTrustAll = true;
            await using OpcUaClient client = await OpcUaClient.ConnectAsync(relay.Url, options);
            for (int i = 0; i < 3; i++)
            {
                Events events = new(client);
                relay.Cut();
                Assert.Equal(SessionRecovery.Resumed, await events.Reconnected.InTimeAsync());
                Assert.Equal(5, (await client.ReadAsync([Number]))[0].Value.Get<int>());
            }

            Assert.Equal(1, server.Server.SessionCount);
        }

        Directory.Delete(folder, recursive: true);
    }

    /// <summary>The session of before has the certificate of before, for which no password is encrypted any more.</summary>
    [Fact]
    public async Task When_the_server_comes_back_with_another_certificate_its_user_gets_a_new_session()
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        string trusted = Directory.CreateDirectory(Path.Combine(folder, "client", "trusted")).FullName;
        using var port = new HeldPort();
        TestServer server = await StartAsync(5, port.Number, o => Configure(o, "before"));
        Trust("before");
        var options = new OpcUaClientOptions { ReconnectDelay = TimeSpan.FromMilliseconds(1), UserName = "anna" };
        options.Certificates.Directory = Path.Combine(folder, "client");
        await using (OpcUaClient client = await server.ConnectAsync(options))
        {
            Events events = new(client);
            await server.DisposeAsync();
            await events.Disconnected.InTimeAsync();
            ApplicationCertificate.LoadOrCreate(
                Path.Combine(folder, "after", "own", "certificate.pem"),
                Path.Combine(folder, "after", "own", "key.pem"),
                () => ApplicationCertificate.Create("urn:after", "after", [], TimeProvider.System.GetUtcNow())).Dispose();
            Trust("after");

            await using TestServer next = await StartAsync(6, port.Number, o => Configure(o, "after"));

            Assert.Equal(SessionRecovery.Replaced, await events.Reconnected.InTimeAsync());
            Assert.Equal(6, (await client.ReadAsync([Number]))[0].Value.Get<int>());
        }

        Directory.Delete(folder, recursive: true);

        void Configure(OpcUaServerOptions o, string name)
        {
            o.Certificates.Directory = Path.Combine(folder, name);
            o.ValidateUser = static (_, _, _) => new(true);
        }

        void Trust(string name) => File.Copy(
            Path.Combine(folder, name, "own", "certificate.pem"), Path.Combine(trusted, "server.pem"), overwrite: true);
    }

    [Fact]
    public async Task What_changes_while_the_network_is_broken_is_not_lost()
    {
        const int Cuts = 5;
        const int PerCut = 200;
        VariableNode number = null!;
        await using TestServer server = await TestServer.StartAsync(
            space => number = space.AddVariable(AddressSpace.ObjectsFolder, Number, "Number", 0));
        await using var relay = new TcpRelay(server.Server.Endpoints[0].Port);
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(relay.Url, Quick);
        await using OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(10), MaxNotificationsPerPublish = 7 });
        List<StatusCode> lost = [];
        subscription.ValuesLost += (_, why) => lost.Add(why);
        await subscription.AddItemsAsync([new MonitoredItemOptions(Number) { SamplingInterval = TimeSpan.Zero, QueueSize = 1000 }]);
        Assert.Equal([0], await subscription.NumbersAsync(1));

        for (int cut = 0; cut < Cuts; cut++)
        {
            Events events = new(client);
            for (int i = 1; i <= PerCut; i++)
            {
                number.Value = new DataValue((cut * PerCut) + i);
                if (i == PerCut / 2)
                {
                    relay.Cut();
                }
            }

            Assert.Equal(SessionRecovery.Resumed, await events.Reconnected.InTimeAsync());
        }

        Assert.Equal(Enumerable.Range(1, Cuts * PerCut), await subscription.NumbersAsync(Cuts * PerCut));
        Assert.Empty(lost);
        Assert.Equal(1, server.Server.SessionCount);
    }

    [Fact]
    public async Task A_server_that_no_longer_answers_is_noticed()
    {
        await using TestServer server = await StartAsync(5);
        await using var relay = new TcpRelay(server.Server.Endpoints[0].Port);
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(
            relay.Url,
            new OpcUaClientOptions { ReconnectDelay = TimeSpan.FromMilliseconds(1), KeepAliveInterval = TimeSpan.FromSeconds(1) },
            loggerFactory: null,
            _time,
            CancellationToken.None);
        Events events = new(client);

        relay.Freeze();
        await AdvanceUntilAsync(events.Disconnected, TimeSpan.FromMilliseconds(100));

        Assert.Contains("keep-alive", (await events.Disconnected).Message, StringComparison.Ordinal);
        await AdvanceUntilAsync(events.Reconnected, TimeSpan.FromMilliseconds(1));
        Assert.Equal(5, (await client.ReadAsync([Number]).InTimeAsync())[0].Value.Get<int>());
    }

    [Fact]
    public async Task A_session_that_the_server_has_ended_is_replaced()
    {
        await using var server = new ScriptedServer();
        await using OpcUaClient client = await server.ConnectAsync();
        Events events = new(client);
        server.On<WriteRequest>(static call => call.FaultAsync(StatusCodes.BadSessionIdInvalid));
        server.On<ActivateSessionRequest>(static call => call.Header.AuthenticationToken == new NodeId(1, 1)
            ? call.FaultAsync(StatusCodes.BadSessionIdInvalid)
            : call.ReplyAsync(default(ActivateSessionResponse)));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => client.WriteAsync([new(Number, 1)]).InTimeAsync());

        Assert.Equal((StatusCodes.BadSessionIdInvalid, false), (e.Status, e.MayHaveExecuted));
        Assert.Equal(SessionRecovery.Replaced, await events.Reconnected.InTimeAsync());
        Assert.Equal(2u, server.SessionCount);
    }

    [Fact]
    public async Task A_client_that_is_closed_while_it_connects_again_ends()
    {
        TestServer server = await StartAsync(5);
        OpcUaClient client = await server.ConnectAsync(Quick);
        Events events = new(client);
        await server.DisposeAsync();
        await events.Disconnected.InTimeAsync();
        Task<DataValue[]> waiting = client.ReadAsync([Number]).AsTask();

        await client.DisposeAsync().InTimeAsync();
        await client.DisposeAsync().InTimeAsync();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => waiting.InTimeAsync());
        Assert.Equal((StatusCodes.BadSessionClosed, false), (e.Status, e.MayHaveExecuted));
    }

    [Fact]
    public async Task A_client_that_is_closed_while_it_waits_for_missed_messages_ends()
    {
        await using var server = new ScriptedServer();
        var script = new ScriptedSubscription(server);
        OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions { ReconnectDelay = TimeSpan.FromMilliseconds(1), RequestTimeout = TimeSpan.FromHours(1) });
        OpcUaSubscription subscription = await client.SubscribeAsync();
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        server.On<RepublishRequest>(_ =>
        {
            asked.TrySetResult();
            return Task.CompletedTask;
        });
        server.Cut();
        await asked.Task.InTimeAsync();

        await client.DisposeAsync().InTimeAsync();

        Assert.Null(await subscription.Changes.EndAsync());
        Assert.Equal(1u, script.Id);
    }

    [Fact]
    public async Task A_server_that_does_not_answer_while_subscriptions_are_brought_back_is_connected_to_again()
    {
        await using var server = new ScriptedServer();
        var script = new ScriptedSubscription(server);
        await using OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions { ConnectTimeout = TimeSpan.FromHours(1) }, _time);
        await using OpcUaSubscription subscription = await client.SubscribeAsync();
        int requests = 0;
        var again = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        server.On<ActivateSessionRequest>(call =>
        {
            if (Volatile.Read(ref requests) == 1)
            {
                again.TrySetResult();
            }

            return call.ReplyAsync(default(ActivateSessionResponse));
        });
        server.On<RepublishRequest>(call => Interlocked.Increment(ref requests) == 1
            ? Task.CompletedTask
            : call.FaultAsync(StatusCodes.BadMessageNotAvailable));
        Events events = new(client);

        server.Cut();
        await Patience.UntilAsync(() => Volatile.Read(ref requests) == 1, "missed messages are asked for");
        await AdvanceUntilAsync(again.Task, TimeSpan.FromMilliseconds(100));
        await AdvanceUntilAsync(events.Reconnected, TimeSpan.FromMilliseconds(1));

        Assert.Equal(SessionRecovery.Resumed, await events.Reconnected);
        Assert.Equal((2, 1u), (requests, script.Id));
    }

    [Fact]
    public async Task A_handler_that_throws_keeps_neither_the_others_nor_the_client_from_going_on()
    {
        await using var server = new ScriptedServer();
        await using OpcUaClient client = await server.ConnectAsync();
        client.Disconnected += static _ => throw new InvalidOperationException("on purpose");
        client.Connected += static _ => throw new InvalidOperationException("on purpose");
        Events events = new(client);

        server.Cut();

        await events.Disconnected.InTimeAsync();
        Assert.Equal(SessionRecovery.Resumed, await events.Reconnected.InTimeAsync());
    }

    // In steps: what a timer has the client do, and what it arms then, is done on other threads.
    private Task AdvanceUntilAsync(Task task, TimeSpan step) => Patience.UntilAsync(
        () =>
        {
            _time.Advance(step);
            return task.IsCompleted;
        },
        "the client's time has come");

    private static Task<TestServer> StartAsync(int value, int port = 0, Action<OpcUaServerOptions>? configure = null) =>
        TestServer.StartAsync(
            space => space.AddVariable(AddressSpace.ObjectsFolder, Number, "Number", value),
            o =>
            {
                o.Endpoints[0] = $"opc.tcp://127.0.0.1:{port}/test";
                configure?.Invoke(o);
            });

    private static VariableNode Add(AddressSpace space, string namespaceUri, int value)
    {
        ushort ns = space.AddNamespace(namespaceUri);
        return space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(ns, 1), new QualifiedName(ns, "Number"), value, writable: true);
    }

    // The next events.
    private sealed class Events
    {
        private readonly TaskCompletionSource<CloseReason> _disconnected = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource<SessionRecovery> _reconnected = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Events(OpcUaClient client)
        {
            client.Disconnected += reason => _disconnected.TrySetResult(reason);
            client.Connected += recovery => _reconnected.TrySetResult(recovery);
        }

        public Task<CloseReason> Disconnected => _disconnected.Task;

        public Task<SessionRecovery> Reconnected => _reconnected.Task;
    }
}
