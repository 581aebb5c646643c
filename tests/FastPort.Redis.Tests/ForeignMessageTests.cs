using System.Globalization;
using FastPort.Redis.Members;
using FastPort.Redis.Tests.Support;
using FastPort.Redis.Wire;
using FastPort.Routing;
using Microsoft.Extensions.DependencyInjection;
using StackExchange.Redis;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>What else may come on a node's channel.</summary>
public sealed class ForeignMessageTests
{
    [RedisFact]
    public async Task What_is_no_batch_of_a_known_node_is_counted_and_ignored()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient target = await b.ConnectAsync("target");
        await using ConnectionMultiplexer stranger = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        Membership members = b.Backplane.Running!.Members;
        RedisChannel channel = b.Backplane.Running.Transport.ChannelOf(members.Self.Instance);
        ulong known = members.Members.Values.Single(one => one.Name == "a").Instance;

        byte[][] messages =
        [
            [],
            [1, 2, 3],
            Batch(BatchBuffer.Version + 1, known, number: 1, []),
            Batch(BatchBuffer.Version, sender: 4711, number: 1, []),
            Batch(BatchBuffer.Version, known, number: 2, [99, 2, 0, 0, 0, 1, 1]),
            Batch(BatchBuffer.Version, known, number: 3, [(byte)EntryKind.Relay, 2, 0, 0, 0, 1, 1]),
            Batch(BatchBuffer.Version, known, number: 4, [(byte)EntryKind.Seen, 255, 255, 255, 127, 1]),
            new byte[1024 * 1024],
        ];
        foreach (byte[] message in messages)
        {
            await stranger.GetSubscriber().PublishAsync(channel, message);
        }

        await Patience.UntilAsync(
            () => b.Backplane.Running.Transport.Counters.Unknown == messages.Length, "all messages were counted");
        Assert.NotEmpty(b.Log.WithId(6008));
        await sender.RelayAsync("target", 1, new byte[] { 1 });
    }

    /// <summary>A node passes on only what it has decoded, so such an entry is not one of a node's.</summary>
    [RedisFact]
    public async Task A_publication_whose_type_exceeds_65535_ends_at_the_subscriber_as_MalformedBody()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient publisher = await a.ConnectAsync("publisher");
        await using FastPortClient subscriber = await b.ConnectAsync("subscriber");
        Subscription subscription = await Subscription.MakeAsync(subscriber, "x");
        await a.KnowsInterestsAsync(1);
        await using Stranger stranger = await Stranger.ConnectAsync(redis, a, b);

        // topic "x", type 65,536, body [9]
        byte[] publication = [0x0A, 1, (byte)'x', 0x10, 0x80, 0x80, 0x04, 0x1A, 1, 9];
        await stranger.SendAsync(
            number: 1000, ((byte)EntryKind.Publish, [(byte)TopicAudience.Peers, 7, 0, 1, 0, (byte)'x', .. publication]));
        await Patience.UntilAsync(() => subscriber.Counters.Snapshot().OneWayFailures == 1, "the client refuses it");
        await publisher.PublishAsync("x", 65_535, new byte[] { 7 });

        Assert.Equal(("publisher", "x", "07"), await subscription.NextAsync());
        Assert.Equal(1, subscriber.Counters.Snapshot().OneWayFailuresWith((uint)ErrorCode.MalformedBody));
    }

    [RedisFact]
    public async Task Lines_of_the_log_about_them_are_few_and_the_others_are_counted()
    {
        const int Messages = 1000;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using Stranger stranger = await Stranger.ConnectAsync(redis, a, b);

        await Task.WhenAll(Enumerable.Range(0, Messages).Select(_ => stranger.SendAsync(new byte[] { 1 })));

        await Patience.UntilAsync(
            () => b.Log.WithId(6008).Count + b.Log.WithId(2011).Sum(static line => CountIn(line.Text)) == Messages,
            "each message has a line of its own or is counted by another one");
        Assert.NotEmpty(b.Log.WithId(2011));
    }

    [RedisFact]
    public async Task A_foreign_value_at_the_key_of_an_id_is_said()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using ConnectionMultiplexer stranger = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        await stranger.GetDatabase().StringSetAsync("fastport:id:machine-7", "something else");

        await Assert.ThrowsAsync<RequestFailedException>(() => a.ConnectAsync("machine-7"));
        Assert.Contains("'something else'; remove the key", Assert.Single(a.Log.WithId(6011)).Text, StringComparison.Ordinal);

        await using FastPortClient other = await a.ConnectAsync("machine-8");
    }

    [RedisFact]
    public async Task A_new_id_whose_key_is_of_a_foreign_type_is_refused_and_the_key_said()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using ConnectionMultiplexer stranger = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        await stranger.GetDatabase().HashSetAsync("fastport:id:machine-1", "field", 1);

        await Assert.ThrowsAsync<RequestFailedException>(() => a.ConnectAsync("machine-1"));

        await using FastPortClient other = await a.ConnectAsync("machine-2");
        Assert.Contains("'of another type'; remove the key", Assert.Single(a.Log.WithId(6011)).Text, StringComparison.Ordinal);
    }

    /// <summary>The lease is longer than the test waits: what waited for an answer of that node would wait for the lease's end.</summary>
    [RedisFact]
    public async Task A_node_of_another_version_is_said_and_asked_for_nothing_and_relays_to_it_are_refused_at_once()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", ("FastPort:Backplane:Lease", "00:01:00"));
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using ConnectionMultiplexer stranger = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        var newer = new Member("newer", 4711, BatchBuffer.Version + 1);
        IDatabase database = stranger.GetDatabase();
        await database.ScriptEvaluateAsync(
            MembershipScripts.Renew, ["{fastport:nodes}", "{fastport:nodes}:version"], [newer.ToString(), 60_000, "", ""]);
        await database.StringSetAsync("fastport:id:target", $"{Member.Format(newer.Instance)}:1");
        Assert.True(await a.Backplane.Running!.Members.IsAliveAsync(newer.Instance));

        RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(
            () => sender.RelayAsync("target", 1, new byte[] { 1 }));

        Assert.Equal(ErrorCode.Unavailable, refused.Code);
        Assert.Contains("'newer' has joined with batch version 2", Assert.Single(a.Log.WithId(6012)).Text, StringComparison.Ordinal);
        Assert.Equal(
            [("a", true), ("newer", false)],
            a.Host.Services.GetRequiredService<INodes>().Read().Select(static one => (one.Name, one.IsCompatible)));

        // Nobody is asked whether the session there is about to end, or which sessions are there.
        RequestFailedException second = await Assert.ThrowsAsync<RequestFailedException>(() => a.ConnectAsync("target"));
        Assert.Equal(ErrorCode.Unavailable, second.Code);
        Assert.Equal(["sender"], await a.Server.Routing.ListPeersAcrossNodesAsync().Select(static one => one.RoutingId).ToArrayAsync());
        Assert.Null(await a.Server.Routing.FindAcrossNodesAsync("target"));

        // Nor is it told of topics, again and again as it never says that it has seen them.
        await Subscription.MakeAsync(sender, "x/");
        Assert.Empty(a.Backplane.Interests.Feeds());
        Assert.Equal(0, a.Backplane.Running!.Transport.Counters.Batches);
    }

    private static int CountIn(string line)
    {
        Assert.Contains(" more lines of event 6008 ", line, StringComparison.Ordinal);
        return int.Parse(line.Split(' ')[0], CultureInfo.InvariantCulture);
    }

    private static byte[] Batch(int version, ulong sender, ulong number, byte[] entries) =>
        [.. "FPB"u8, (byte)version, .. BitConverter.GetBytes(sender), .. BitConverter.GetBytes(number), .. entries];
}
