using FastPort.Redis.Tests.Support;

namespace FastPort.Redis.Tests;

/// <summary>As <see cref="CutOffTests"/>, for a node whose process stands still.</summary>
public sealed class StoppedNodeTests
{
    private const int SigCont = 18;
    private static readonly TimeSpan StoppedFor = TimeSpan.FromSeconds(20);

    [RedisFact]
    public async Task A_node_is_stopped()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using NodeProcess a = await NodeProcess.StartAsync(redis.Connection, "a");
        await using NodeProcess b = await NodeProcess.StartAsync(redis.Connection, "b");
        await using var account = new RelayAccount();
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient local = await a.ConnectAsync("local", account.Target("local"));
        await using FastPortClient kept = await b.ConnectAsync("kept", account.Target("kept"));
        FastPortClient moved = await b.ConnectAsync("moved", account.Target("moved"));
        Task<CloseReason> lost = CutOffTests.DisconnectedAsync(moved);
        account.Send(sender, "local", inFlight: 2);
        account.Send(sender, "kept", inFlight: 8);
        account.Send(sender, "moved", inFlight: 8);
        await account.DeliversAsync("kept");
        await account.DeliversAsync("moved");

        b.Signal(ServerProcess.SigStop);
        await using FastPortClient elsewhere = await a.ConnectAgainAsync("moved", account.Target("moved"));
        await account.DeliversAsync("moved");
        await account.DeliversForAsync("local", StoppedFor);
        b.Signal(SigCont);
        account.FaultEnds();

        await CutOffTests.HealsAsync(account, lost, moved);
    }
}
