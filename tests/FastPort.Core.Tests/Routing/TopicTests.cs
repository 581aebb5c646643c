using FastPort.Core.Tests.Support;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Routing;

public sealed class TopicTests
{
    [Fact]
    public async Task A_publication_goes_to_every_session_with_a_prefix_of_its_topic()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b");
        using RawPeer c = await server.ConnectAsync("c");
        await b.SubscribeAsync("werk/ü/");
        await c.SubscribeAsync("werk/z");

        WireFrame reply = await a.CallAsync(PublishRequest(9, "werk/ü/7", [1, 2], type: 77, from: "boss"));

        Assert.Equal((Publish, Wire.Reply, 9u, 1UL), (reply.Type, reply.Flags, reply.Correlation, reply.NumberAt(1)));
        WireFrame published = await b.ReadFrameAsync();
        Assert.Equivalent((Publish, Wire.OneWay, 0u, "werk/ü/7", 77UL, new byte[] { 1, 2 }, "a"), Decode(published));
        Assert.Equal(1, published.CountAt(4));
        await c.PingAsync();
        Assert.Equal((1, 1, 2), (server.Counts.Published, server.Counts.Delivered, server.Counts.SubscriptionsOpen));
    }

    [Theory]
    [InlineData("", "", true)]
    [InlineData("", "a", true)]
    [InlineData("a", "", false)]
    [InlineData("a", "a", true)]
    [InlineData("ab", "a", false)]
    [InlineData("a/b", "a/bc", true)]
    [InlineData("a/b", "A/b", false)]
    public async Task A_prefix_matches_by_its_bytes(string prefix, string topic, bool matches)
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync();
        await a.SubscribeAsync(prefix);

        await a.SendAsync(PublishRequest(1, topic, [1]));

        if (matches)
        {
            Assert.Equal(topic, Decode(await a.ReadFrameAsync()).Address);
        }

        Assert.Equal(matches ? 1UL : 0, (await a.ReadFrameAsync()).NumberAt(1));
    }

    [Fact]
    public async Task A_session_gets_one_copy_however_many_of_its_prefixes_match()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b");
        using RawPeer c = await server.ConnectAsync("c");
        foreach (string prefix in new[] { "", "x", "x/", "x/y", "x", "x/y/z" })
        {
            await b.SubscribeAsync(prefix);
        }

        await c.SubscribeAsync("x/");

        Assert.Equal(2UL, await a.PublishAsync("x/y", [1]));
        Assert.Equal(1UL, await a.PublishAsync("z", [2]));

        Assert.Equal([1], Decode(await b.ReadFrameAsync()).Body);
        Assert.Equal([2], Decode(await b.ReadFrameAsync()).Body);
        Assert.Equal([1], Decode(await c.ReadFrameAsync()).Body);
        await Task.WhenAll(b.PingAsync(), c.PingAsync());
    }

    [Fact]
    public async Task Unsubscribe_ends_one_prefix_and_one_that_never_was_is_as_wanted()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        await a.SubscribeAsync("x");
        await a.SubscribeAsync("x/y");
        await a.SubscribeAsync("x/z");

        foreach (string prefix in new[] { "x/y", "x/", "never", "x/y" })
        {
            await a.SendAsync(TopicRequest(Unsubscribe, 4, prefix));
            await a.ExpectEmptyReplyAsync(Unsubscribe, 4);
        }

        Assert.Equal(2, server.Counts.SubscriptionsOpen);
        await a.SendAsync(TopicRequest(Unsubscribe, 4, "x"));
        await a.ExpectEmptyReplyAsync(Unsubscribe, 4);
        Assert.Equal(0UL, await a.PublishAsync("x/y", []));
        await a.SendAsync(PublishRequest(5, "x/z", []));
        Assert.Equal(Wire.OneWay, (await a.ReadFrameAsync()).Flags);
    }

    [Fact]
    public async Task A_session_that_ends_is_subscribed_no_more()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        using (RawPeer b = await server.ConnectAsync("b"))
        {
            await b.SubscribeAsync("x");
            await b.SubscribeAsync("y");
        }

        await server.CloseReasonAsync();

        Assert.Equal(0, server.Counts.SubscriptionsOpen);
        Assert.Equal(0UL, await a.PublishAsync("x", []));
        Assert.False(server.Server.Routing.Subscribe(server.Opened[1], "x"));
        Assert.Equal(0, server.Counts.SubscriptionsOpen);
    }

    [Fact]
    public async Task One_prefix_more_than_allowed_is_Overloaded_and_one_less_makes_room()
    {
        await using TestServer server = await StartAsync(static o => o.Routing.MaxTopicsPerSession = 2);
        using RawPeer a = await server.ConnectAsync("a");
        await a.SubscribeAsync("x");
        await a.SubscribeAsync("y");
        await a.SubscribeAsync("x");

        WireFrame error = await a.CallAsync(TopicRequest(Subscribe, 3, "z"));

        Assert.Equal((Subscribe, 3, 3u, 8u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        await a.SendAsync(TopicRequest(Unsubscribe, 4, "x"));
        await a.ExpectEmptyReplyAsync(Unsubscribe, 4);
        await a.SubscribeAsync("z");
    }

    [Fact]
    public async Task A_session_holds_so_many_prefixes_within_each_other_at_most()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");

        // From both ends, so that the last one lies in the middle.
        foreach (int length in new[] { 1, 16, 2, 15, 3, 14, 4, 13 })
        {
            await a.SubscribeAsync(new string('a', length));
        }

        foreach (int length in new[] { 0, 8, 16 + 1, 256 })
        {
            WireFrame error = await a.CallAsync(TopicRequest(Subscribe, 3, new string('a', length)));
            Assert.Equal((Subscribe, 3, 3u, 8u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        }

        // Beside them there is room, and where one has gone.
        await a.SubscribeAsync("aab");
        await a.SubscribeAsync(new string('a', 13));
        await a.SendAsync(TopicRequest(Unsubscribe, 4, "a"));
        await a.ExpectEmptyReplyAsync(Unsubscribe, 4);
        await a.SubscribeAsync("");
        Assert.Equal(9, server.Counts.SubscriptionsOpen);

        await a.SendAsync(PublishRequest(5, new string('a', 256), [1]));
        Assert.Equal([1], Decode(await a.ReadFrameAsync()).Body);
        Assert.Equal(1UL, (await a.ReadFrameAsync()).NumberAt(1));
    }

    [Fact]
    public async Task A_peer_changes_its_subscriptions_only_so_often()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await StartAsync(
            static o =>
            {
                o.Routing.MaxTopicsPerSession = 3;
                o.Routing.MaxTopicChangesPerSecond = 2;
            },
            h => h.Time = time);
        using RawPeer a = await server.ConnectAsync("a");

        // At once as often as it may have topics; then so often a second.
        await a.SubscribeAsync("x");
        await a.SubscribeAsync("y");
        await a.SubscribeAsync("z");
        foreach (ushort type in new[] { Subscribe, Unsubscribe })
        {
            WireFrame error = await a.CallAsync(TopicRequest(type, 3, "x"));
            Assert.Equal((type, 3, 3u, 8u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        }

        Assert.Equal(3, server.Counts.SubscriptionsOpen);
        time.Advance(TimeSpan.FromSeconds(1));
        await a.SendAsync(TopicRequest(Unsubscribe, 4, "x"));
        await a.ExpectEmptyReplyAsync(Unsubscribe, 4);
        await a.SubscribeAsync("w");
        Assert.Equal(8u, (await a.CallAsync(TopicRequest(Unsubscribe, 3, "w"))).ErrorCode);

        Assert.Equal(3, server.Counts.SubscriptionsOpen);
    }

    [Theory]
    [InlineData("news/today", false)]
    [InlineData("rooms/7", true)]
    public async Task The_servers_own_topics_are_closed_to_peers_but_for_those_that_are_shared(string topic, bool shared)
    {
        await using TestServer server = await StartAsync(static o => o.Routing.SharedTopics = ["rooms/"]);
        using RawPeer peer = await server.ConnectAsync("peer");
        using RawPeer member = await server.ConnectAsync("member");
        await peer.SubscribeAsync("");
        Assert.True(server.Server.Routing.Subscribe(server.Opened[1], topic));

        // What the server publishes.
        Assert.Equal(shared ? 2 : 1, server.Server.Routing.Publish(topic, 5, [1]));
        Assert.Equal("$server", Decode(await member.ReadFrameAsync()).From);
        if (shared)
        {
            Assert.Equal("$server", Decode(await peer.ReadFrameAsync()).From);
        }

        // What a peer publishes.
        await peer.SendAsync(PublishRequest(5, topic, [2], from: "$server"));
        Assert.Equal("peer", Decode(await peer.ReadFrameAsync()).From);
        Assert.Equal(shared ? 2UL : 1, (await peer.ReadFrameAsync()).NumberAt(1));
        if (shared)
        {
            Assert.Equal("peer", Decode(await member.ReadFrameAsync()).From);
        }

        await Task.WhenAll(peer.PingAsync(), member.PingAsync());
    }

    [Fact]
    public async Task A_session_subscribed_by_both_sides_gets_one_copy()
    {
        await using TestServer server = await StartAsync(static o => o.Routing.SharedTopics = [""]);
        using RawPeer a = await server.ConnectAsync("a");
        await a.SubscribeAsync("x");
        Assert.True(server.Server.Routing.Subscribe(server.Opened[0], "x"));
        Assert.True(server.Server.Routing.Subscribe(server.Opened[0], ""));

        Assert.Equal(1, server.Server.Routing.Publish("x/y", 5, [1]));

        Assert.Equal([1], Decode(await a.ReadFrameAsync()).Body);
        await a.PingAsync();

        // Each side ends its own subscriptions.
        await a.SendAsync(TopicRequest(Unsubscribe, 4, "x"));
        await a.ExpectEmptyReplyAsync(Unsubscribe, 4);
        Assert.True(server.Server.Routing.Unsubscribe(server.Opened[0], "x"));
        Assert.Equal(1, server.Counts.SubscriptionsOpen);
    }

    [Fact]
    public async Task Topics_have_so_many_bytes_at_most()
    {
        await using TestServer server = await StartAsync(static o => o.Routing.MaxTopicBytes = 6);
        using RawPeer a = await server.ConnectAsync("a");

        await a.SubscribeAsync("üüü");
        Assert.Equal(4u, (await a.CallAsync(TopicRequest(Subscribe, 3, "üüüx"))).ErrorCode);
        Assert.Equal(4u, (await a.CallAsync(TopicRequest(Unsubscribe, 3, "1234567"))).ErrorCode);
        Assert.Equal(4u, (await a.CallAsync(PublishRequest(3, "1234567", []))).ErrorCode);
        await a.SendAsync(PublishRequest(3, "üüü", []));
        Assert.Equal(Wire.OneWay, (await a.ReadFrameAsync()).Flags);
    }

    [Theory]
    [InlineData(new byte[] { 0x0A })]
    [InlineData(new byte[] { 0x0A, 9, 1 })]
    [InlineData(new byte[] { 0x08, 1 })]
    [InlineData(new byte[] { 0x0A, 1, 0xFF })]
    [InlineData(new byte[] { 0x0B })]
    [InlineData(new byte[] { 0x00 })]
    public async Task A_hostile_topic_is_MalformedBody(byte[] body)
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");

        foreach (ushort type in new[] { Subscribe, Unsubscribe })
        {
            WireFrame error = await a.CallAsync(Wire.Request(type, 3, body));
            Assert.Equal((type, 3, 3u, 4u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        }

        Assert.Equal(0, server.Counts.SubscriptionsOpen);
    }

    [Fact]
    public async Task One_way_messages_of_all_types_do_their_work_without_an_answer()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");

        await a.SendAsync(
            Wire.Post(Subscribe, Wire.Text(1, "x")), Wire.Post(Publish, Envelope("x", 0, [7])), Wire.Post(Unsubscribe, Wire.Text(1, "x")));

        Assert.Equal([7], Decode(await a.ReadFrameAsync()).Body);
        await a.PingAsync();
        Assert.Equal(0, server.Counts.SubscriptionsOpen);
    }

    [Theory]
    [InlineData(SendQueueFullPolicy.Wait)]
    [InlineData(SendQueueFullPolicy.DropOneWay)]
    public async Task Nobody_waits_for_a_subscriber_without_room_and_the_reply_counts_the_others(SendQueueFullPolicy policy)
    {
        const int Messages = 2000;
        await using TestServer server = await StartAsync(o => (o.Session.SendQueueBytes, o.Session.SendQueueFull) = (32 * 1024, policy));
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer slow = await server.ConnectAsync("slow", receiveBuffer: 8192);
        using RawPeer quick = await server.ConnectAsync("quick");
        await slow.SubscribeAsync("x");
        await quick.SubscribeAsync("x");
        Session slowSession = server.Opened[1];

        ulong delivered = 0;
        for (uint i = 0; i < Messages; i++)
        {
            delivered += await a.PublishAsync("x", Wire.Bytes(8192, (int)i));
            Assert.Equal(Wire.Bytes(8192, (int)i), Decode(await quick.ReadFrameAsync()).Body);
        }

        long taken = (long)delivered - Messages;
        Assert.InRange(taken, 1, Messages - 1);
        Assert.Equal(Messages - taken, slowSession.MessagesDropped);
        for (long i = 0; i < taken; i++)
        {
            Assert.Equal(8192, Decode(await slow.ReadFrameAsync()).Body.Length);
        }
    }

    [Theory]
    [InlineData(16 * 1024)]
    [InlineData(300_000)]
    public async Task A_large_publication_reaches_all_unchanged(int size)
    {
        await using TestServer server = await StartAsync(static o => o.Session.SendQueueBytes = 16 * 1024 * 1024);
        using RawPeer a = await server.ConnectAsync("a");
        RawPeer[] peers = [await server.ConnectAsync("b"), await server.ConnectAsync("c"), await server.ConnectAsync("d")];
        foreach (RawPeer peer in peers)
        {
            await peer.SubscribeAsync("x");
        }

        for (int i = 0; i < 20; i++)
        {
            Assert.Equal(3UL, await a.PublishAsync("x", Wire.Bytes(size, i)));
        }

        foreach (RawPeer peer in peers)
        {
            for (int i = 0; i < 20; i++)
            {
                byte[] body = Decode(await peer.ReadFrameAsync()).Body;
                Assert.True(Wire.Bytes(size, i).AsSpan().SequenceEqual(body), $"Message {i} is not the one expected.");
            }

            peer.Dispose();
        }
    }
}
