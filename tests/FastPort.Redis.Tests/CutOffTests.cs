using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>
/// A node that has neither heard of the others nor been heard of for longer than its lease: others claim its ids meanwhile. It closes those
/// sessions when it is back, and keeps the rest. The accounts are those of <see cref="FaultTests"/>.
/// </summary>
public sealed class CutOffTests
{
    // Long enough for TCP alone to wait longer than nodes may, before it sends again.
    private static readonly TimeSpan CutFor = TimeSpan.FromSeconds(14);

    [RedisNetworkFact]
    public async Task Packets_between_a_node_and_Redis_vanish()
    {
        await using PartedNetworks networks = await PartedNetworks.OpenAsync("b");
        await using NodeProcess a = await NodeProcess.StartAsync(networks.Connection, "a");
        await CutOffAsync(a, networks.Node, networks.CutAsync, networks.RestoreAsync);
    }

    [RedisFact]
    public async Task Bytes_between_a_node_and_Redis_are_held_up()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using var line = new RedisLine(redis);
        await using NodeProcess a = await NodeProcess.StartAsync(redis.Connection, "a");
        await using NodeProcess b = await NodeProcess.StartAsync(line.Connection, "b");
        await CutOffAsync(a, b, Done(line.Cut), Done(line.Mend));
    }

    private static async Task CutOffAsync(NodeProcess a, NodeProcess b, Func<Task> cut, Func<Task> restore)
    {
        await using var account = new RelayAccount();
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient localA = await b.ConnectAsync("local-a", account.Target("local-a"));
        await using FastPortClient localB = await b.ConnectAsync("local-b");
        await using FastPortClient kept = await b.ConnectAsync("kept", account.Target("kept"));
        FastPortClient moved = await b.ConnectAsync("moved", account.Target("moved"));
        Task<CloseReason> lost = DisconnectedAsync(moved);
        account.Send(sender, "kept", inFlight: 8);
        account.Send(sender, "moved", inFlight: 8);
        account.Send(localB, "local-a", inFlight: 2);
        await account.DeliversAsync("kept");
        await account.DeliversAsync("moved");

        await cut();
        await account.DeliversAsync("local-a");
        await using FastPortClient elsewhere = await a.ConnectAgainAsync("moved", account.Target("moved"));
        await account.DeliversAsync("moved");
        await account.DeliversForAsync("local-a", CutFor);
        await restore();
        account.FaultEnds();

        await HealsAsync(account, lost, moved);
    }

    internal static async Task HealsAsync(RelayAccount account, Task<CloseReason> lost, FastPortClient moved)
    {
        // The session at the node that was away has lost its id to the one elsewhere.
        Assert.Equal((uint)ErrorCode.DuplicateIdentity, (await lost.InTimeAsync()).ProtocolCode);
        await moved.DisposeAsync();
        await account.DeliversAsync("kept");
        await account.DeliversAsync("moved");
        await account.CloseAsync();
    }

    internal static Task<CloseReason> DisconnectedAsync(FastPortClient client)
    {
        var lost = new TaskCompletionSource<CloseReason>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Disconnected += (_, reason) => lost.TrySetResult(reason);
        return lost.Task;
    }

    private static Func<Task> Done(Action action) => () =>
    {
        action();
        return Task.CompletedTask;
    };
}
