using FastPort.Clients;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using FastPort.Redis.Relaying;
using FastPort.Redis.Tests.Support;
using FastPort.Redis.Topics;
using FastPort.Redis.Wire;
using FastPort.Sessions;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>A node that stops in order.</summary>
public sealed class LeavingTests
{
    private const uint Type = 0x1234;
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

    /// <summary>It waits for an end of relays only: topics may change, and things may be published, for as long as it waits.</summary>
    [RedisFact]
    public async Task What_is_said_about_topics_does_not_hold_a_leaving_node_up()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await links.OtherJoinsAsync();
        using var topics = new TopicExchange(new OwnInterests(), links.Transport, links.Members, NullLogger.Instance);
        var receiver = new BatchReceiver(
            links.Transport, links.Lookups, links.Directory, links.Targets, links.Members, topics, null!, new NeverWritable(),
            NullLogger.Instance);
        long begun = receiver.LastRelaysAt;
        links.Time.Advance(TimeSpan.FromSeconds(1));

        await receiver.ReceiveAsync(Batch(1, EntryKind.Wanted));
        Assert.Equal(begun, receiver.LastRelaysAt);

        await receiver.ReceiveAsync(Batch(2, EntryKind.Relay));
        Assert.Equal(links.Transport.Now, receiver.LastRelaysAt);

        static ReadOnlyMemory<byte> Batch(ulong number, EntryKind kind)
        {
            var batch = new BatchBuffer();
            batch.Add(kind, 1).Fill((byte)'a');
            batch.Seal(TestLinks.Other, number);
            return batch.Memory;
        }
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
