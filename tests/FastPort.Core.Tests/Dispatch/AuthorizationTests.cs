using System.Collections.Concurrent;
using FastPort.Core.Tests.Routing;
using FastPort.Core.Tests.Support;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Dispatch;

public sealed class AuthorizationTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_type_that_is_not_allowed_is_Forbidden_and_the_session_lives(bool later)
    {
        await using TestServer server = await TestServer.StartAsync(
            static h => h.MapQueued(0x1001, static _ => ValueTask.CompletedTask),
            components: h => h.Authorizer = async (request, _) =>
            {
                if (later)
                {
                    await Task.Yield();
                }

                return request.Type == 0x1001;
            });
        using RawPeer peer = await server.ConnectAsync();

        for (uint i = 1; i < 50; i++)
        {
            await peer.SendAsync(Wire.Request(TestServer.Echo, i), Wire.Post(TestServer.Echo), Wire.Request(0x1001, i));
            WireFrame first = await peer.ReadFrameAsync();
            WireFrame second = await peer.ReadFrameAsync();
            WireFrame forbidden = first.IsError ? first : second;
            Assert.Equal((TestServer.Echo, 3, i, 6u), (forbidden.Type, forbidden.Flags, forbidden.Correlation, forbidden.ErrorCode));
            Assert.Equal(0x1001, (first.IsError ? second : first).Type);
        }

        await peer.PingAsync();
        Assert.Equal(49, server.Counts.OneWayFailuresWith(6));
    }

    [Fact]
    public async Task Every_message_is_asked_about_once_also_where_the_queue_is_full()
    {
        var asked = new ConcurrentQueue<ushort>();
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1001, async _ => await release.Task),
            static o => o.Session.MaxInFlightRequests = 1,
            h => h.Authorizer = async (request, _) =>
            {
                await Task.Yield();
                asked.Enqueue(request.Type);
                return true;
            });
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Request(0x1001, 1), Wire.Request(0x1001, 2), Wire.Request(TestServer.Echo, 3));
        await Patience.UntilAsync(() => asked.Count == 1, "the first request was asked about");
        release.SetResult();

        Assert.Equal(
            [1u, 2u, 3u], new[] { await peer.ReadFrameAsync(), await peer.ReadFrameAsync(), await peer.ReadFrameAsync() }.Select(
                static f => f.Correlation).Order());
        Assert.Equal(new ushort[] { 0x1001, 0x1001, TestServer.Echo }, asked);
    }

    /// <summary>What is allowed when a message arrives may not be when the ones before it have begun.</summary>
    [Fact]
    public async Task A_message_that_waits_behind_queued_requests_is_asked_about_when_its_turn_has_come()
    {
        bool isAllowed = true;
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1001, async _ => await release.Task).MapQueued(0x1002, static _ => ValueTask.CompletedTask),
            static o =>
            {
                o.Session.MaxInFlightRequests = 2;
                o.Session.MaxConcurrency = 1;
                o.Routing.Topics = true;
            },
            h => h.Authorizer = (request, _) => ValueTask.FromResult(request.Type == 0x1001 || Volatile.Read(ref isAllowed)));
        using RawPeer behindStarts = await server.ConnectAsync();
        using RawPeer behindRoom = await server.ConnectAsync();
        await behindStarts.SendAsync(Wire.Request(0x1001, 1), Wire.Request(0x1001, 2), TopicRequest(Subscribe, 3, "a"));
        await behindRoom.SendAsync(Wire.Request(0x1001, 1), Wire.Request(0x1001, 2), Wire.Request(0x1002, 3));
        await Patience.UntilAsync(
            () => server.Opened.Count == 2 && server.Opened.All(static one => one.MessagesReceived == 2), "the first two are in the queue");
        server.Settle();

        Volatile.Write(ref isAllowed, false);
        release.SetResult();

        foreach (RawPeer peer in new[] { behindStarts, behindRoom })
        {
            WireFrame[] replies = [await peer.ReadFrameAsync(), await peer.ReadFrameAsync(), await peer.ReadFrameAsync()];
            Assert.Equal(6u, Assert.Single(replies, static one => one.Correlation == 3).ErrorCode);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Topics_and_targets_can_be_decided_on_one_by_one(bool later)
    {
        var asked = new ConcurrentQueue<(ushort, string?, string?)>();
        await using TestServer server = await StartAsync(components: h => h.Authorizer = async (request, _) =>
        {
            asked.Enqueue((request.Type, request.Topic, request.Target));
            if (later)
            {
                await Task.Yield();
            }

            return request.Topic?.StartsWith(request.Session.RoutingId + "/", StringComparison.Ordinal) ?? request.Target != "boss";
        });
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer boss = await server.ConnectAsync("boss");

        await a.SubscribeAsync("a/x");
        await ForbiddenAsync(TopicRequest(Subscribe, 2, ""), "0x0005 for ''.");
        await ForbiddenAsync(TopicRequest(Unsubscribe, 3, "b/ü"), "0x0006 for 'b/ü'.");
        await ForbiddenAsync(PublishRequest(4, "b/x", [1]), "0x0007 for 'b/x'.");
        await ForbiddenAsync(RelayRequest(5, "boss", [1]), "0x0004 for 'boss'.");
        await a.SendAsync(RelayRequest(6, "a", [1]));
        Assert.Equal(Wire.OneWay, (await a.ReadFrameAsync()).Flags);
        await a.ExpectEmptyReplyAsync(Relay, 6);
        Assert.False((await a.CallAsync(Wire.Request(TestServer.Echo, 7))).IsError);

        // What no handler would take is the handler's to refuse.
        Assert.Equal(4u, (await a.CallAsync(Wire.Request(Subscribe, 8, [0x0A, 9, 1]))).ErrorCode);
        Assert.Equal(4u, (await a.CallAsync(Wire.Request(Publish, 9, [0x0A, 1, 0xFF]))).ErrorCode);
        Assert.Equal(12u, (await a.CallAsync(RelayRequest(10, new string('x', 1000), [1]))).ErrorCode);
        await boss.PingAsync();

        Assert.Equal(
            [
                (Subscribe, "a/x", null), (Subscribe, "", null), (Unsubscribe, "b/ü", null), (Publish, "b/x", null), (Relay, null, "boss"),
                (Relay, null, "a"),
                (TestServer.Echo, null, null),
            ],
            asked);

        async Task ForbiddenAsync(byte[] request, string what)
        {
            WireFrame error = await a.CallAsync(request);
            Assert.Equal((6u, $"This session may not use message type {what}"), (error.ErrorCode, error.TextAt(2)));
        }
    }

    [Fact]
    public async Task An_authorizer_that_throws_forbids()
    {
        await using TestServer server = await TestServer.StartAsync(
            components: static h => h.Authorizer = static (_, _) => throw new InvalidOperationException("A defect in the authorizer."));
        using RawPeer peer = await server.ConnectAsync();

        Assert.Equal(6u, (await peer.CallAsync(Wire.Request(TestServer.Echo, 1))).ErrorCode);
        await peer.PingAsync();
        Assert.Single(server.Log.WithId(2004));
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task An_authorizer_that_cancels_itself_has_failed(bool isAsync, bool later)
    {
        await using TestServer server = await TestServer.StartAsync(
            components: h => h.Authorizer = (_, _) => isAsync
                ? TimedOutAsync(later)
                : throw new TaskCanceledException("The query took too long."));
        using RawPeer peer = await server.ConnectAsync();

        Assert.Equal(6u, (await peer.CallAsync(Wire.Request(TestServer.Echo, 1))).ErrorCode);
        await Patience.UntilAsync(() => server.Log.WithId(2004).Count == 1, "the failure was logged");

        static async ValueTask<bool> TimedOutAsync(bool later)
        {
            if (later)
            {
                await Task.Yield();
            }

            throw new TaskCanceledException("The query took too long.");
        }
    }

    [Fact]
    public async Task An_authorizer_is_cancelled_when_the_session_ends()
    {
        var cancelled = new TaskCompletionSource();
        var asked = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(components: h => h.Authorizer = async (_, token) =>
        {
            asked.TrySetResult();
            try
            {
                await Task.Delay(Timeout.Infinite, token);
            }
            finally
            {
                cancelled.TrySetResult();
            }

            return true;
        });
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(TestServer.Echo, 1));
        await asked.Task.InTimeAsync();

        (await server.SessionAsync()).Abort();

        await cancelled.Task.InTimeAsync();
        await server.CloseReasonAsync();
        Assert.Empty(server.Log.WithId(2004));
    }
}
