using System.Threading.Channels;
using FastPort.Framing;
using FastPort.Redis.Directory;
using FastPort.Redis.Relaying;
using FastPort.Redis.Tests.Support;
using FastPort.Redis.Topics;
using FastPort.Redis.Wire;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>A node that stops in order.</summary>
public sealed class LeavingTests
{
    private const ushort Type = 0x1234;
    private const int Targets = 500;

    [RedisFact]
    public async Task Relays_to_sessions_that_have_left_with_it_are_answered_that_nobody_is_there()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", Node.LongLease);
        await using Node b = await Node.StartAsync(redis, "b", Node.LongLease);
        await using FastPortClient sender = await b.ConnectAsync("sender");

        // From now on b knows where they are, and hears nothing of their end.
        for (int i = 0; i < Targets; i++)
        {
            await using FastPortClient target = await a.ConnectAsync(
                $"target-{i}", static client => client.OnRelayed(Type, (scoped in _) => { }));
            await sender.RelayAsync($"target-{i}", Type, new byte[] { 1 });
        }

        await a.Server.StopAsync(Patience.Token);
        Task leaving = a.Host.StopAsync(Patience.Token);
        List<Task<ErrorCode>> answers = [];

        // One after the other, so that some come in each moment of its leaving; none waits for one that is lost.
        for (int i = 0; i < Targets; i++)
        {
            Task<ErrorCode> answer = AskAsync(sender, $"target-{i}");
            answers.Add(answer);
            await Task.WhenAny(answer, leaving);
        }

        Assert.All(await Task.WhenAll(answers).InTimeAsync(), static code => Assert.Equal(ErrorCode.NotFound, code));
        await leaving.InTimeAsync();
        await b.KnowsAsync(1);
    }

    [RedisFact]
    public async Task A_windows_thread_can_wait_for_its_start_a_relay_and_its_leaving()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient target = await b.ConnectAsync("target", static client => client.OnRelayed(Type, (scoped in _) => { }));
        await WindowThread.RunAsync(() =>
        {
            Node a = Node.Create(redis.Connection, "a");
            a.Host.StartAsync().GetAwaiter().GetResult();
            FastPortClient sender = Task.Run(() => a.ConnectAsync("sender")).GetAwaiter().GetResult();
            sender.RelayAsync("target", Type, new byte[] { 1 }).GetAwaiter().GetResult();
            sender.CloseAsync().GetAwaiter().GetResult();
            a.Host.StopAsync().GetAwaiter().GetResult();
            a.Host.Dispose();
        });
        await b.KnowsAsync(1);
    }

    [RedisFact]
    public async Task A_node_whose_server_does_not_start_leaves_when_its_host_is_disposed()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        Node b = Node.Create(redis.Connection, "b", ("FastPort:Endpoints:0", a.Server.Endpoints[0].ToString()));
        await Assert.ThrowsAnyAsync<Exception>(() => b.Host.StartAsync(Patience.Token));
        await a.KnowsAsync(2);

        b.Host.Dispose();

        await a.KnowsAsync(1);
    }

    /// <summary>However late it arrives: the other node's last relays come before its answer that it sends no more.</summary>
    [RedisFact]
    public async Task A_relay_on_its_way_to_a_node_that_leaves_is_passed_on()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using var line = new RedisLine(redis);
        await using Node a = await Node.StartAsync(redis, "a", Node.LongLease);
        await using Node b = await Node.StartAsync($"{line.Connection},protocol=resp2", "b", Node.LongLease);
        await using Node c = await Node.StartAsync(redis, "c", Node.LongLease);
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using (await b.ConnectAsync("target", static client => client.OnRelayed(Type, (scoped in _) => { })))
        {
            await sender.RelayAsync("target", Type, new byte[] { 1 });
        }

        var received = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using FastPortClient target = await c.ConnectAsync(
            "target", client => client.OnRelayed(Type, (scoped in _) => received.SetResult()));
        await b.Server.StopAsync(Patience.Token);
        line.HoldPublished();
        long before = line.PublishedBytes;
        Task relay = sender.RelayAsync("target", Type, new byte[] { 2 });
        await Patience.UntilAsync(() => line.PublishedBytes > before, "the relay is on its way to b");
        before = line.PublishedBytes;
        Task leaving = b.Host.StopAsync(Patience.Token);
        await Patience.UntilAsync(() => line.PublishedBytes > before || leaving.IsCompleted, "b has told the others");
        Assert.False(leaving.IsCompleted, "b has left without the relay that was on its way to it");
        line.DeliverPublished();

        await relay.InTimeAsync();
        await received.Task.InTimeAsync();
        await leaving.InTimeAsync();
    }

    [RedisFact]
    public async Task Nothing_but_acknowledgments_is_sent_to_a_node_that_says_it_is_leaving()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await links.OtherJoinsAsync();
        links.Lookups.Know("id"u8.ToArray(), new Location(TestLinks.Other, 1));
        ChannelReader<string> sent = await links.ListenAsync(TestLinks.Other);
        NodeLink link = links.Transport.LinkTo(TestLinks.Other);
        var own = new OwnInterests();
        using var topics = new TopicExchange(own, links.Transport, links.Members, NullLogger.Instance);
        topics.NodeJoined(TestLinks.Other);
        Assert.Equal("AskInterests", await sent.ReadAsync(Patience.Token));
        var receiver = new BatchReceiver(
            links.Transport, links.Lookups, links.Directory, links.Targets, links.Members, topics, null!, new NeverWritable(),
            NullLogger.Instance);
        await receiver.ReceiveAsync(Batch(1, EntryKind.Wanted, "plant/"u8));
        Assert.Equal("Seen", await sent.ReadAsync(Patience.Token));
        Assert.Equal(SendStatus.Queued, Relay(link, 1));
        Assert.Equal("Relay 1", await sent.ReadAsync(Patience.Token));

        await receiver.ReceiveAsync(Batch(2, EntryKind.Leaving, []));

        Assert.Equal("Seen", await sent.ReadAsync(Patience.Token));
        Assert.Equal(SendStatus.NotFound, Relay(link, 2));
        Assert.False(links.Lookups.TryGet("id"u8, out _));
        Assert.Empty(own.Feeds());
        await Patience.UntilAsync(() => !Wants(topics.Others, "plant/line-1"u8), "its topics are forgotten");

        static SendStatus Relay(NodeLink link, ushort type) =>
            link.TryRelay(null, correlation: 0, origin: 0, token: 1, type, hops: 0, "id"u8, new RawBody([]));

        static bool Wants(InterestTable table, ReadOnlySpan<byte> topic)
        {
            Span<ulong> marks = stackalloc ulong[InterestTable.MarkWords];
            marks.Clear();
            return table.Match(topic, marks).MoveNext();
        }

        static ReadOnlyMemory<byte> Batch(ulong number, EntryKind kind, ReadOnlySpan<byte> payload)
        {
            var batch = new BatchBuffer();
            payload.CopyTo(batch.Add(kind, payload.Length));
            batch.Seal(TestLinks.Other, number);
            return batch.Memory;
        }
    }

    /// <summary>Their leases go on for longer than this test may last.</summary>
    [RedisFact]
    public async Task A_node_does_not_wait_for_nodes_that_were_killed()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks killed = await TestLinks.StartAsync(redis);
        await killed.OtherJoinsAsync();
        await using Node b = await Node.StartAsync(redis, "b", Node.LongLease);
        await b.KnowsAsync(3);

        await b.Host.StopAsync(CancellationToken.None).InTimeAsync();
    }

    private static async Task<ErrorCode> AskAsync(FastPortClient sender, string id)
    {
        try
        {
            await sender.RelayAsync(id, Type, new byte[] { 2 });
            return ErrorCode.None;
        }
        catch (RequestFailedException e)
        {
            return e.Code;
        }
    }
}
