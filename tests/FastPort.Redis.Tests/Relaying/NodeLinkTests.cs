using System.Text;
using System.Threading.Channels;
using FastPort.Framing;
using FastPort.Redis.Directory;
using FastPort.Redis.Members;
using FastPort.Redis.Relaying;
using FastPort.Redis.Tests.Support;
using StackExchange.Redis;
using Xunit;

namespace FastPort.Redis.Tests.Relaying;

/// <summary>What becomes of what a link has, when the node leaves while a batch is on its way.</summary>
public sealed class NodeLinkTests
{
    private static readonly byte[] Id = Encoding.UTF8.GetBytes("machine-7");

    [RedisFact]
    public async Task What_has_gathered_at_a_link_that_closes_while_a_batch_fails_looks_for_its_target_again()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        NodeLink link = links.Transport.LinkTo(TestLinks.Other);
        links.Redis.Hold();
        Relay(link, type: 1);
        HeldAnswer first = await links.Redis.NextAsync();
        Relay(link, type: 2);

        link.Close();
        links.Redis.HoldNoMore();
        first.Fail(new RedisTimeoutException(CommandFlags.None, "lost", CommandStatus.Sent));

        // The first may have been received: it is lost, and counted once. Only the second is sent again.
        Assert.Equal((ushort)2, await links.LookedUp.Task.InTimeAsync());
        Assert.Equal(1, links.Transport.Counters.LostOneWays);
    }

    [RedisFact]
    public async Task Relays_to_a_member_that_subscribes_again_arrive_in_order()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await links.OtherJoinsAsync();
        NodeLink link = links.Transport.LinkTo(TestLinks.Other);
        links.Redis.Hold();
        Relay(link, type: 1);
        HeldAnswer nobody = await links.Redis.NextAsync();
        Relay(link, type: 2);
        ChannelReader<string> received = await links.ListenAsync(TestLinks.Other);

        links.Redis.HoldNoMore();
        nobody.Give();
        await links.UntilAsync(() => received.Count == 2, "both have arrived");

        Assert.Equal(["Relay 1", "Relay 2"], [await received.ReadAsync(), await received.ReadAsync()]);
        Assert.False(links.LookedUp.Task.IsCompleted);
    }

    [RedisFact]
    public async Task Relays_to_a_member_that_subscribes_again_too_late_for_the_first_arrive_in_order_all_the_same()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        links.SendsAgain = true;
        await links.OtherJoinsAsync();
        await redis.RunAsync("SET", "fastport:id:machine-7", $"{Member.Format(TestLinks.Other)}:1");
        links.Lookups.Know(Id, new Location(TestLinks.Other, 1));
        NodeLink link = links.Transport.LinkTo(TestLinks.Other);
        links.Redis.Hold();
        Relay(link, type: 1);
        HeldAnswer nobody = await links.Redis.NextAsync();
        Relay(link, type: 2);
        links.Redis.HoldNoMore();
        nobody.Give();
        await links.UntilAsync(() => links.LookedUp.Task.IsCompleted, "the first looks for its target");

        // As the router does.
        await Patience.UntilAsync(
            () =>
            {
                if (links.Lookups.TryGet(Id, out Location location))
                {
                    return links.Transport.LinkTo(location.Instance).TryRelay(
                        null, 0, origin: 1, location.Token, type: 3, hops: 0, Id, new RawBody(new byte[] { 1 })) == SendStatus.Queued;
                }

                links.Lookups.Send(Id, new WaitingRelay(0, Origin: 1, Type: 3, Hops: 0, [1], links.Transport.Now));
                return true;
            },
            "a third one is sent");
        ChannelReader<string> received = await links.ListenAsync(TestLinks.Other);
        await links.UntilAsync(() => received.Count == 3, "all have arrived");

        Assert.Equal(
            ["Relay 1", "Relay 2", "Relay 3"], [await received.ReadAsync(), await received.ReadAsync(), await received.ReadAsync()]);
    }

    /// <summary>In a cluster a replica passes it on and counts nobody.</summary>
    [RedisFact]
    public async Task A_batch_that_was_seen_is_not_published_again_whatever_Redis_has_counted()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await links.OtherJoinsAsync();
        NodeLink link = links.Transport.LinkTo(TestLinks.Other);
        links.Redis.Hold();
        Relay(link, type: 1);
        HeldAnswer nobody = await links.Redis.NextAsync();
        Relay(link, type: 2);
        ChannelReader<string> received = await links.ListenAsync(TestLinks.Other);

        link.Seen(1);
        links.Redis.HoldNoMore();
        nobody.Give();
        await links.UntilAsync(() => received.Count != 0, "what follows has arrived");

        Assert.Equal("Relay 2", await received.ReadAsync());
        Assert.False(links.LookedUp.Task.IsCompleted);
    }

    [RedisFact]
    public async Task A_link_that_is_made_anew_does_not_begin_with_the_last_number_of_the_one_before_it()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        var former = new NodeLink(links.Transport, TestLinks.Other, member: null);
        ChannelReader<ulong> numbers = await links.ListenToNumbersAsync(TestLinks.Other);
        Relay(former, type: 1);
        ulong last = await numbers.ReadAsync(Patience.Token);

        links.Time.Advance(TimeSpan.FromMilliseconds(1));
        Relay(new NodeLink(links.Transport, TestLinks.Other, member: null), type: 2);

        Assert.NotEqual(last, await numbers.ReadAsync(Patience.Token));
    }

    /// <summary>It waits for a node that has not sent the batch, and knows nothing of it.</summary>
    [RedisFact]
    public async Task The_origin_of_a_request_that_was_passed_on_hears_that_it_is_lost()
    {
        const ulong Origin = 815;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        ChannelReader<string> atOrigin = await links.ListenAsync(Origin);
        ChannelReader<string> atOther = await links.ListenAsync(TestLinks.Other);
        NodeLink link = links.Transport.LinkTo(TestLinks.Other);
        Relay(link, type: 1, correlation: 4, Origin);
        await atOther.ReadAsync(Patience.Token);
        link.Seen(1);
        links.Redis.Hold();
        Relay(link, type: 2, correlation: 5, Origin);
        await links.Redis.NextAsync();

        link.Close();

        Assert.Equal("Confirmation 5 Unconfirmed", await atOrigin.ReadAsync(Patience.Token));
    }

    [RedisFact]
    public async Task Log_lines_about_what_was_lost_name_a_node_that_has_left()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        Member other = await links.OtherJoinsAsync();
        NodeLink link = links.Transport.LinkTo(TestLinks.Other);
        links.Redis.Hold();
        Relay(link, type: 1);
        await links.Redis.NextAsync();

        await links.OtherLeavesAsync(other);

        Assert.Contains("to node 'other'", Assert.Single(links.Log.WithId(6007)).Text, StringComparison.Ordinal);
    }

    private static void Relay(NodeLink link, ushort type, ulong correlation = 0, ulong origin = 1) => Assert.Equal(
        SendStatus.Queued,
        link.TryRelay(null, correlation, origin, token: 1, type, hops: 0, Id, new RawBody(new byte[] { 1 })));
}
