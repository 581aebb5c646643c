using System.Text;
using System.Threading.Channels;
using FastPort.Redis.Tests.Support;
using FastPort.Redis.Topics;
using FastPort.Redis.Wire;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>What others know about topics after a loss, and after entries that no node sends.</summary>
public sealed class TopicLossTests
{
    [RedisFact]
    public async Task A_node_that_has_missed_batches_asks_for_everything()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient atB = await b.ConnectAsync("at-b");
        await Subscription.MakeAsync(atB, "x/");
        await a.KnowsInterestsAsync(1);
        await using Stranger stranger = await Stranger.ConnectAsync(redis, from: b, to: a);

        // In the name of b, which knows nothing of it: node a misses what was between, and learns what b really wants.
        await stranger.SendAsync(1000, (8, "wrong/"u8.ToArray()), (9, "x/"u8.ToArray()));

        await Patience.UntilAsync(() => Wants(a, "x/1") && !Wants(a, "wrong/"), "node a knows again what b wants");
        await a.KnowsInterestsAsync(1);
    }

    [RedisFact]
    public async Task What_was_told_and_is_not_seen_is_told_again()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await a.KnowsAsync(2);
        await b.KnowsAsync(2);
        await using FastPortClient atB = await b.ConnectAsync("at-b");

        // Node a has forgotten everything, as if the batches had not arrived; what node b believes to be lost, it tells again.
        await Subscription.MakeAsync(atB, "x/");
        await a.KnowsInterestsAsync(1);
        ulong instance = b.Backplane.Running!.Members.Self.Instance;
        a.Backplane.Running!.Topics.Others.Begin(instance);
        a.Backplane.Running!.Topics.Others.End(instance);
        Assert.False(Wants(a, "x/"));
        b.Backplane.Running!.Topics.Lost(a.Backplane.Running!.Members.Self.Instance);

        await Patience.UntilAsync(() => Wants(a, "x/"), "node a knows again what b wants");
    }

    [RedisFact]
    public async Task Entries_that_no_node_sends_are_counted_and_do_no_harm()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient atA = await a.ConnectAsync("at-a");
        Subscription received = await Subscription.MakeAsync(atA, "");
        await b.KnowsInterestsAsync(1);
        await using Stranger stranger = await Stranger.ConnectAsync(redis, from: b, to: a);
        byte[] publication = new byte[PublishEntry.FixedSize + 1];
        PublishEntry.WriteHead(publication, FastPort.Routing.TopicAudience.Peers, 7, "x"u8);
        long before = a.Backplane.Running!.Transport.Counters.Unknown;

        await stranger.SendAsync([]);
        await stranger.SendAsync("FPB\u0001"u8.ToArray());
        await stranger.SendTruncatedAsync(1);
        await stranger.SendAsync(
            2,
            (0, []),
            (200, new byte[10]),
            (7, []),
            (7, new byte[4]),
            (7, [0, .. publication[1..]]),
            (7, [4, .. publication[1..]]),
            (7, [1, 7, 0, 255, 255]),
            (7, [1, 7, 0, 1, 4, .. new byte[1025]]),
            (8, new byte[1025]),
            (10, [1, 2, 3]),
            (11, [1, 2, 3]),
            (7, publication));

        // Only the last entry is a publication, all of whose fields are empty.
        Assert.Equal("", (await received.NextAsync()).Body);
        await using FastPortClient atB = await b.ConnectAsync("at-b");
        await atB.PublishAsync("x", 1, new byte[] { 1 });

        Assert.Equal("01", (await received.NextAsync()).Body);
        Assert.Equal(12, a.Backplane.Running!.Transport.Counters.Unknown - before);
    }

    [RedisFact]
    public async Task Prefixes_beyond_those_that_are_kept_are_said_and_asked_for_when_there_is_room()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await links.OtherJoinsAsync();
        ChannelReader<string> atOther = await links.ListenAsync(TestLinks.Other);
        using var topics = new TopicExchange(new OwnInterests(), links.Transport, links.Members, links.Log)
        {
            Others = new InterestTable(maxPrefixes: 1),
        };

        foreach (string wanted in (string[])["a", "b"])
        {
            Assert.True(topics.TryReceive(TestLinks.Other, EntryKind.Wanted, Encoding.UTF8.GetBytes(wanted)));
        }

        Assert.Equal(1, links.Transport.Counters.RefusedInterests);
        Assert.Contains("'other' wants more than 1 topic prefixes", Assert.Single(links.Log.WithId(6015)).Text, StringComparison.Ordinal);
        Assert.True(topics.TryReceive(TestLinks.Other, EntryKind.Unwanted, "a"u8));
        Assert.Equal("AskInterests", await atOther.ReadAsync(Patience.Token));
    }

    /// <summary>As a node sends that was told of no receiver: a replica of a cluster does not count those of its master.</summary>
    [RedisFact]
    public async Task A_batch_that_arrives_twice_is_handled_once()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient atA = await a.ConnectAsync("at-a");
        Subscription received = await Subscription.MakeAsync(atA, "");
        await b.KnowsInterestsAsync(1);
        await using Stranger stranger = await Stranger.ConnectAsync(redis, from: b, to: a);
        byte[] publication = new byte[PublishEntry.FixedSize + 1];
        PublishEntry.WriteHead(publication, FastPort.Routing.TopicAudience.Peers, 7, "x"u8);

        await stranger.SendTwiceAsync(1, (7, publication));
        await using FastPortClient atB = await b.ConnectAsync("at-b");
        await atB.PublishAsync("x", 1, new byte[] { 1 });

        Assert.Equal(["", "01"], [(await received.NextAsync()).Body, (await received.NextAsync()).Body]);
    }

    private static bool Wants(Node node, string topic) => node.Backplane.Running!.Topics.Others
        .Match(Encoding.UTF8.GetBytes(topic), new ulong[InterestTable.MarkWords]).MoveNext();
}
