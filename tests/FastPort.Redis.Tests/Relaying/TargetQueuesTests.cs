using System.Text;
using FastPort.Redis.Relaying;
using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests.Relaying;

/// <summary>Relays that wait for targets which do not read.</summary>
public sealed class TargetQueuesTests
{
    private static readonly byte[] Slow = Encoding.UTF8.GetBytes("slow");
    private static readonly byte[] Other = Encoding.UTF8.GetBytes("other");

    [RedisFact]
    public async Task A_slow_target_does_not_take_the_room_of_the_others()
    {
        const int Part = TestLinks.TargetBytes / 16;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        Task<SendStatus> first = Send(links, Slow, bytes: 2 * Part);
        Task<SendStatus> second = Send(links, Slow, bytes: 1);
        Task<SendStatus> other = Send(links, Other, bytes: Part / 4);
        Task<SendStatus> afterOther = Send(links, Other, bytes: Part / 4);

        // One of any length may wait.
        Assert.Equal(SendStatus.Dropped, await second.InTimeAsync());
        Assert.False(first.IsCompleted || other.IsCompleted || afterOther.IsCompleted);
        Assert.Equal(WaitingRelay.BytesFor(2 * Part) + (2 * WaitingRelay.BytesFor(Part / 4)), links.Targets.Bytes);

        links.Time.Advance(links.Transport.RelayTimeout);
        Assert.Equal([SendStatus.Full, SendStatus.Full, SendStatus.Full], await Task.WhenAll(first, other, afterOther).InTimeAsync());
        await Patience.UntilAsync(() => links.Targets.Bytes == 0, "all room is free again");
    }

    private static Task<SendStatus> Send(TestLinks links, byte[] target, int bytes)
    {
        PendingRelay pending = links.Transport.Await();
        links.Targets.Add(
            target, new WaitingRelay(pending.Correlation, links.Transport.Self, Type: 1, Hops: 0, new byte[bytes], links.Transport.Now));
        return pending.AsTask().AsTask();
    }
}
