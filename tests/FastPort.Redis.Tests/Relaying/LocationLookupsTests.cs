using System.Text;
using System.Threading.Channels;
using FastPort.Redis.Directory;
using FastPort.Redis.Relaying;
using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests.Relaying;

/// <summary>Relays that wait until it is known where their target is, and where they go then.</summary>
public sealed class LocationLookupsTests
{
    private const string Key = "fastport:id:machine-7";
    private static readonly byte[] Id = Encoding.UTF8.GetBytes("machine-7");

    [RedisFact]
    public async Task Relays_that_wait_for_a_location_take_room_for_more_than_their_messages()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        links.Redis.Hold();

        for (int i = 0; i < 10; i++)
        {
            links.Lookups.Send(Id, Relay(links, type: 1, bytes: 0));
        }

        Assert.False(links.Lookups.HasRoom);
        links.Redis.HoldNoMore();
        (await links.Redis.NextAsync()).Give();
        await Patience.UntilAsync(() => links.Lookups.IsIdle, "the location is known");
        Assert.True(links.Lookups.HasRoom);
    }

    /// <summary>One batch of all would be more than Redis holds for a subscriber.</summary>
    [RedisFact]
    public async Task Relays_that_have_waited_for_a_location_go_in_order_as_their_node_has_room()
    {
        const int Bytes = 600_000;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await links.OtherJoinsAsync();
        await redis.RunAsync("SET", Key, new Location(TestLinks.Other, 1).ToString());
        ChannelReader<string> received = await links.ListenAsync(TestLinks.Other);
        NodeLink link = links.Transport.LinkTo(TestLinks.Other);
        links.Redis.Hold();
        for (ushort type = 1; type <= 4; type++)
        {
            links.Lookups.Send(Id, Relay(links, type, Bytes));
        }

        links.Redis.HoldNoMore();
        (await links.Redis.NextAsync()).Give();

        // The second relay fills the window shortly before WaitingBytes falls.
        await Patience.UntilAsync(
            () => link.QueuedBytes >= NodeLink.WindowBytes && links.Lookups.WaitingBytes < 3 * Bytes, "the window is full");
        Assert.InRange(link.QueuedBytes, NodeLink.WindowBytes, NodeLink.WindowBytes + Bytes);
        Assert.False(links.Lookups.IsIdle);
        Assert.InRange(links.Lookups.WaitingBytes, 2 * Bytes, 3 * Bytes);

        await Patience.UntilAsync(
            () =>
            {
                for (ulong batch = 1; batch <= 4; batch++)
                {
                    link.Seen(batch);
                }

                return received.Count == 4;
            },
            "all have arrived");
        for (int type = 1; type <= 4; type++)
        {
            Assert.Equal($"Relay {type}", await received.ReadAsync());
        }

        await Patience.UntilAsync(() => links.Lookups.IsIdle, "nothing waits");
        Assert.Equal(0, links.Lookups.WaitingBytes);
        Assert.Equal(0, links.Transport.Counters.LostOneWays);
    }

    [RedisFact]
    public async Task A_relay_whose_target_is_at_this_node_waits_for_its_queue_behind_the_others()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await redis.RunAsync("SET", Key, new Location(links.Transport.Self, 1).ToString());
        PendingRelay pending = links.Transport.Await();
        Task<SendStatus> confirmed = pending.AsTask().AsTask();

        links.Lookups.Send(Id, Relay(links, type: 1, bytes: 10) with { Correlation = pending.Correlation });
        await Patience.UntilAsync(() => links.Lookups.IsIdle, "the location is known");

        Assert.True(links.Targets.Waits(Id));
        Assert.False(confirmed.IsCompleted);
        links.Time.Advance(links.Transport.RelayTimeout);
        Assert.Equal(SendStatus.Full, await confirmed.InTimeAsync());
    }

    /// <summary>Nobody has subscribed to the other node's channel, as if its connection to Redis were away.</summary>
    [RedisTheory]
    [InlineData(true, SendStatus.Unavailable)]
    [InlineData(false, SendStatus.NotFound)]
    public async Task A_relay_that_no_batch_brings_to_its_node_says_whether_that_is_alive(bool isAlive, SendStatus status)
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        links.SendsAgain = true;
        if (isAlive)
        {
            await links.OtherJoinsAsync();
        }

        await redis.RunAsync("SET", Key, new Location(TestLinks.Other, 1).ToString());
        PendingRelay pending = links.Transport.Await();
        Task<SendStatus> answer = pending.AsTask().AsTask();

        links.Lookups.Send(Id, Relay(links, type: 1, bytes: 10) with { Correlation = pending.Correlation, Pending = pending });

        await links.UntilAsync(() => answer.IsCompleted, "the relay is answered");
        Assert.Equal(status, await answer);

        // The lookup ends after the answer.
        await links.UntilAsync(() => links.Lookups.IsIdle, "the lookup has ended");
        Assert.Equal(0, links.Lookups.WaitingBytes);
    }

    /// <summary>It has left, and was forgotten, between the lookup's answer and this.</summary>
    [RedisFact]
    public async Task A_location_at_a_node_that_has_left_is_not_kept()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);

        links.Lookups.Know(Id, new Location(TestLinks.Other, 1));
        Assert.False(links.Lookups.TryGet(Id, out _));

        await links.OtherJoinsAsync();
        links.Lookups.Know(Id, new Location(TestLinks.Other, 1));
        Assert.True(links.Lookups.TryGet(Id, out _));
    }

    /// <summary>It began to leave, and was forgotten, between the lookup's answer and this.</summary>
    [RedisFact]
    public async Task A_location_at_a_node_that_is_leaving_is_not_kept()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await links.OtherJoinsAsync();
        links.Transport.LinkTo(TestLinks.Other).StopRelays();

        links.Lookups.Know(Id, new Location(TestLinks.Other, 1));

        Assert.False(links.Lookups.TryGet(Id, out _));
    }

    /// <summary>The location is known until the node's message is handled to its end; the id has moved already.</summary>
    [RedisFact]
    public async Task A_relay_to_a_known_location_at_a_node_that_is_leaving_is_looked_up()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await links.OtherJoinsAsync();
        links.Lookups.Know(Id, new Location(TestLinks.Other, 1));
        await redis.RunAsync("SET", Key, new Location(links.Transport.Self, 2).ToString());
        links.Transport.LinkTo(TestLinks.Other).StopRelays();
        PendingRelay pending = links.Transport.Await();
        Task<SendStatus> answer = pending.AsTask().AsTask();

        links.Lookups.Send(Id, Relay(links, type: 1, bytes: 10) with { Correlation = pending.Correlation, Pending = pending });
        await Patience.UntilAsync(() => links.Lookups.IsIdle, "the location is known");

        Assert.True(links.Targets.Waits(Id));
        Assert.False(answer.IsCompleted);
    }

    private static WaitingRelay Relay(TestLinks links, ushort type, int bytes) =>
        new(Correlation: 0, links.Transport.Self, type, Hops: 0, new byte[bytes], links.Transport.Now);
}
