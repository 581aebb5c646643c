using FastPort.Redis.Tests.Support;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>What a node tells of the nodes, as the live page shows it.</summary>
public sealed class NodesTests
{
    private const int SigCont = 18;

    [RedisFact]
    public async Task A_node_tells_its_lease_and_what_it_has_sent_to_the_others()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient target = await b.ConnectAsync("target");
        await a.KnowsAsync(2);
        for (int i = 0; i < 10; i++)
        {
            await sender.RelayAsync("target", 1, new byte[100]);
        }

        // The batch that says what was seen comes after the confirmation.
        INodes nodes = a.Host.Services.GetRequiredService<INodes>();
        await Patience.UntilAsync(() => nodes.Read()[1].QueuedBytes == 0, "all batches were seen");
        IReadOnlyList<NodeInfo> read = nodes.Read();

        Assert.Equal(["a", "b"], read.Select(static one => one.Name));
        Assert.True(read[0].IsSelf);
        Assert.InRange(read[0].LeaseLeft!.Value, TimeSpan.FromTicks(1), TimeSpan.FromSeconds(2));
        Assert.Null(read[0].Lag);
        Assert.False(read[1].IsSelf);
        Assert.Null(read[1].LeaseLeft);
        Assert.Equal(10, read[1].RelaysSent);
        Assert.InRange(read[1].BatchesSent, 10, 30);
        Assert.InRange(read[1].BatchBytesSent, 1000, 10_000);
        Assert.InRange(read[1].Lag!.Value, TimeSpan.FromTicks(1), Patience.Limit);
    }

    [RedisFact]
    public async Task The_lag_of_a_node_that_does_not_answer_grows()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", ("FastPort:Backplane:Lease", "00:00:30"));
        await using NodeProcess b = await NodeProcess.StartAsync(redis.Connection, "b", ("FastPort__Backplane__Lease", "00:00:30"));
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient target = await b.ConnectAsync("target");
        await sender.RelayAsync("target", 1, new byte[100]);
        INodes nodes = a.Host.Services.GetRequiredService<INodes>();

        b.Signal(ServerProcess.SigStop);
        Task relay = sender.RelayAsync("target", 1, new byte[100]);
        await Patience.UntilAsync(() => nodes.Read()[1].Lag > TimeSpan.FromMilliseconds(300), "the lag grows");
        Assert.InRange(nodes.Read()[1].QueuedBytes, 100, 1000);
        b.Signal(SigCont);

        await relay;
        await Patience.UntilAsync(() => nodes.Read()[1].QueuedBytes == 0, "all batches were seen");
    }
}
