using System.Diagnostics;
using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>Topics of several nodes, as clients and the servers' programs see them.</summary>
public sealed class TopicTests
{
    private const ushort Type = 0x1234;

    [RedisFact]
    public async Task A_publication_reaches_the_subscribers_of_all_nodes_once_each()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using Node c = await Node.StartAsync(redis, "c");
        await using FastPortClient publisher = await a.ConnectAsync("publisher");
        await using FastPortClient near = await a.ConnectAsync("near");
        await using FastPortClient far = await b.ConnectAsync("far");
        await using FastPortClient farther = await b.ConnectAsync("farther");
        await using FastPortClient farthest = await c.ConnectAsync("farthest");
        Subscription[] all =
        [
            await Subscription.MakeAsync(near, "plant/"),
            await Subscription.MakeAsync(far, "plant/"),
            await Subscription.MakeAsync(far, "plant/line-1/"),
            await Subscription.MakeAsync(farther, "plant/line-1/speed"),
            await Subscription.MakeAsync(farthest, ""),
        ];
        await a.KnowsInterestsAsync(4);
        long before = b.Server.Routing.Find("far")!.MessagesSent;

        int sessionsHere = await publisher.PublishAsync("plant/line-1/speed", Type, new byte[] { 1 });
        await publisher.PublishAsync("plant/line-1/speed", Type, new byte[] { 2 });

        Assert.Equal(1, sessionsHere);
        foreach (Subscription one in all)
        {
            Assert.Equal(("publisher", "plant/line-1/speed", "01"), await one.NextAsync());
            Assert.Equal(("publisher", "plant/line-1/speed", "02"), await one.NextAsync());
            Assert.Equal(0, one.Count);
        }

        // Counted after the whole batch.
        await Patience.UntilAsync(() => b.PublicationsReceived() + c.PublicationsReceived() >= 4, "all are counted");
        Assert.Equal((4, 2, 2), (a.PublicationsSent(), b.PublicationsReceived(), c.PublicationsReceived()));
        Assert.Equal(before + 2, b.Server.Routing.Find("far")!.MessagesSent);
    }

    [RedisFact]
    public async Task A_node_where_nobody_wants_a_topic_receives_nothing()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using Node c = await Node.StartAsync(redis, "c");
        await using FastPortClient publisher = await a.ConnectAsync("publisher");
        await using FastPortClient atB = await b.ConnectAsync("at-b");
        await using FastPortClient atC = await c.ConnectAsync("at-c");
        Subscription wanted = await Subscription.MakeAsync(atB, "wanted/");
        await Subscription.MakeAsync(atC, "other/");
        await a.KnowsInterestsAsync(2);

        for (int i = 0; i < 100; i++)
        {
            await publisher.PublishAsync("wanted/x", Type, new byte[] { (byte)i });
            await wanted.NextAsync();
        }

        // A batch is counted after its last entry.
        await Patience.UntilAsync(() => b.PublicationsReceived() == 100, "all publications are counted");
        Assert.Equal((100, 100, 0), (a.PublicationsSent(), b.PublicationsReceived(), c.PublicationsReceived()));
    }

    [RedisFact]
    public async Task Unsubscribing_and_the_end_of_a_session_end_the_interest()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient publisher = await a.ConnectAsync("publisher");
        FastPortClient first = await b.ConnectAsync("first");
        await using FastPortClient second = await b.ConnectAsync("second");
        await Subscription.MakeAsync(first, "x/");
        await Subscription.MakeAsync(first, "y/");
        Subscription rest = await Subscription.MakeAsync(second, "x/");
        await a.KnowsInterestsAsync(2);

        await first.CloseAsync();
        await a.KnowsInterestsAsync(1);
        await publisher.PublishAsync("y/", Type, new byte[] { 1 });
        await publisher.PublishAsync("x/", Type, new byte[] { 2 });
        Assert.Equal("02", (await rest.NextAsync()).Body);
        await second.UnsubscribeAsync("x/");
        await a.KnowsInterestsAsync(0);
        await publisher.PublishAsync("x/", Type, new byte[] { 3 });

        Assert.Equal((1, 0), (a.PublicationsSent(), rest.Count));
    }

    [RedisFact]
    public async Task A_node_that_joins_later_learns_what_is_wanted_and_tells_what_it_wants()
    {
        const int Many = 3000;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", ("FastPort:Routing:MaxTopicsPerSession", "10000"));
        await using FastPortClient atA = await a.ConnectAsync("at-a");
        await Task.WhenAll(Enumerable.Range(0, Many).Select(i => Subscription.MakeAsync(atA, $"many/{i}/"))).InTimeAsync();
        Subscription old = await Subscription.MakeAsync(atA, "old/");

        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient atB = await b.ConnectAsync("at-b");
        Subscription young = await Subscription.MakeAsync(atB, "young/");
        await b.KnowsInterestsAsync(Many + 1);
        await a.KnowsInterestsAsync(1);
        await atB.PublishAsync("old/1", Type, new byte[] { 1 });
        await atA.PublishAsync("young/1", Type, new byte[] { 2 });

        Assert.Equal(("at-b", "old/1", "01"), await old.NextAsync());
        Assert.Equal(("at-a", "young/1", "02"), await young.NextAsync());
    }

    [RedisFact]
    public async Task The_interests_of_a_node_that_leaves_are_forgotten()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using FastPortClient publisher = await a.ConnectAsync("publisher");
        Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient atB = await b.ConnectAsync("at-b");
        await Subscription.MakeAsync(atB, "x/");
        await a.KnowsInterestsAsync(1);

        await b.DisposeAsync();

        await a.KnowsInterestsAsync(0);
        await publisher.PublishAsync("x/", Type, new byte[] { 1 });
        Assert.Equal(0, a.PublicationsSent());
    }

    [RedisFact]
    public async Task Publications_of_one_publisher_keep_their_order()
    {
        const int Count = 5000;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient publisher = await a.ConnectAsync("publisher");
        await using FastPortClient subscriber = await b.ConnectAsync("subscriber");
        Subscription received = await Subscription.MakeAsync(subscriber, "x");
        await a.KnowsInterestsAsync(1);

        await Task.WhenAll(Enumerable.Range(0, Count).Select(i => publisher.PublishAsync("x", Type, BitConverter.GetBytes(i))))
            .InTimeAsync();

        Assert.Equal(0, a.LostPublications());
        for (int i = 0; i < Count; i++)
        {
            Assert.Equal(Convert.ToHexString(BitConverter.GetBytes(i)), (await received.NextAsync()).Body);
        }
    }

    [RedisFact]
    public async Task Topics_work_again_soon_after_Redis_has_lost_everything()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient atA = await a.ConnectAsync("at-a");
        await using FastPortClient atB = await b.ConnectAsync("at-b");
        Subscription before = await Subscription.MakeAsync(atB, "before/");
        Subscription ends = await Subscription.MakeAsync(atB, "ends/");
        await a.KnowsInterestsAsync(2);

        await redis.KillAsync();
        Subscription during = await Subscription.MakeAsync(atB, "during/");
        await atB.UnsubscribeAsync("ends/");
        await atA.PublishAsync("before/", Type, new byte[] { 0xFF });
        await redis.StartAgainAsync();
        long began = Stopwatch.GetTimestamp();
        await ArrivesAsync(atA, "before/", before);
        await ArrivesAsync(atA, "during/", during);
        TimeSpan took = Stopwatch.GetElapsedTime(began);

        Assert.True(took < TimeSpan.FromSeconds(2 + 3), $"It took {took}.");
        await a.KnowsInterestsAsync(2);
        Assert.Equal(0, ends.Count);
    }

    [RedisFact]
    public async Task A_lease_that_ended_while_Redis_stood_still_begins_again_with_all_topics()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient atA = await a.ConnectAsync("at-a");
        await using FastPortClient atB = await b.ConnectAsync("at-b");
        await Subscription.MakeAsync(atB, "x/");
        await a.KnowsInterestsAsync(1);

        await redis.SignalAsync("STOP");
        await Patience.UntilAsync(() => !a.Backplane.IsConnected && !b.Backplane.IsConnected, "the leases have ended");
        Subscription during = await Subscription.MakeAsync(atB, "y/");
        await redis.SignalAsync("CONT");

        await ArrivesAsync(atA, "y/", during);
        await a.KnowsInterestsAsync(2);
    }

    [RedisFact]
    public async Task Topics_of_peers_and_of_the_program_stay_apart_at_other_nodes_unless_they_are_shared()
    {
        (string, string) shared = ("FastPort:Routing:SharedTopics:0", "shared/");
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", shared);
        await using Node b = await Node.StartAsync(redis, "b", shared);
        await using FastPortClient peer = await a.ConnectAsync("peer");
        await using FastPortClient ofPeer = await b.ConnectAsync("of-peer");
        var ofProgram = new Subscription();
        await using FastPortClient member = await b.ConnectAsync("member");

        // So that the client has a handler for what the program of its server subscribes it to.
        await member.SubscribeAsync("", ofProgram.Receive);
        Assert.Single(b.Server.Routing.EndSubscriptions(static (_, _) => false));
        Subscription own = await Subscription.MakeAsync(ofPeer, "");
        Assert.True(b.Server.Routing.Subscribe(b.Server.Routing.Find("member")!, "private"));
        Assert.True(b.Server.Routing.Subscribe(b.Server.Routing.Find("member")!, "shared/"));
        await a.KnowsInterestsAsync(3);

        a.Server.Routing.Publish("private", Type, [1]);
        await peer.PublishAsync("private", Type, new byte[] { 2 });
        a.Server.Routing.Publish("shared/", Type, [3]);
        await peer.PublishAsync("shared/", Type, new byte[] { 4 });

        Assert.Equal([("peer", "private", "02"), ("$server", "shared/", "03"), ("peer", "shared/", "04")],
            [await own.NextAsync(), await own.NextAsync(), await own.NextAsync()]);
        Assert.Equal([("$server", "private", "01"), ("$server", "shared/", "03"), ("peer", "shared/", "04")],
            [await ofProgram.NextAsync(), await ofProgram.NextAsync(), await ofProgram.NextAsync()]);
        Assert.Equal((0, 0), (own.Count, ofProgram.Count));
    }

    [RedisFact]
    public async Task What_finds_no_room_in_the_window_is_dropped_and_counted()
    {
        const int Count = 200;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient subscriber = await b.ConnectAsync("subscriber");
        Subscription received = await Subscription.MakeAsync(subscriber, "");
        await a.KnowsInterestsAsync(1);

        byte[] large = new byte[100_000];
        for (int i = 0; i < Count; i++)
        {
            a.Server.Routing.Publish("private", Type, large);
        }

        await Patience.UntilAsync(
            () => a.PublicationsSent() + a.LostPublications() == Count && b.PublicationsReceived() == a.PublicationsSent(),
            "each is sent or counted as lost");
        Assert.True(a.LostPublications() > 0);
        Assert.Equal(0, received.Count);
    }

    // Publishes until something arrives: what is published before the nodes know each other again does not.
    private static Task ArrivesAsync(FastPortClient publisher, string topic, Subscription subscription) => Patience.UntilAsync(
        () =>
        {
            _ = publisher.PublishAsync(topic, Type, new byte[] { 1 });
            return subscription.Count != 0;
        },
        $"a publication on {topic} arrives");
}
