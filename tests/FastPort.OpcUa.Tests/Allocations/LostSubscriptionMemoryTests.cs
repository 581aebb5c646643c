using System.Collections.Concurrent;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Client;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Allocations;

/// <summary>What a client keeps while subscriptions wait to be made again.</summary>
[Collection(AloneCollection.Name)]
public sealed class LostSubscriptionMemoryTests
{
    [Fact]
    public async Task Messages_of_one_subscription_leave_nothing_behind_while_two_others_are_lost()
    {
        const int Messages = 5000;
        TimeSpan never = TimeSpan.FromMinutes(5);
        await using var server = new ScriptedServer();
        var script = new ScriptedSubscription(server);
        await using OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions { ReconnectDelay = never, MaxReconnectDelay = never, KeepAliveInterval = TimeSpan.Zero },
            new FakeTimeProvider());
        OpcUaSubscription[] lost = [await client.SubscribeAsync(), await client.SubscribeAsync()];
        await client.SubscribeAsync();
        foreach (OpcUaSubscription subscription in lost)
        {
            script.Refusals.Enqueue(StatusCodes.BadTooManySubscriptions);
            await (await script.NextPublishAsync()).ReplyAsync(new PublishResponse
            {
                SubscriptionId = subscription.Id,
                NotificationMessage = ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout),
            });
        }

        await Patience.UntilAsync(() => script.Refusals.Count == 0 && script.WaitingCount == 2, "two subscriptions are refused");
        ConcurrentQueue<ScriptedCall> waiting = new([await script.NextPublishAsync(), await script.NextPublishAsync()]);
        int left = 0;
        server.On<PublishRequest>(call =>
        {
            if (Interlocked.Decrement(ref left) >= 0)
            {
                return AliveAsync(call);
            }

            waiting.Enqueue(call);
            return Task.CompletedTask;
        });
        await SendAsync(Messages / 10);
        long before = GC.GetTotalMemory(forceFullCollection: true);

        await SendAsync(Messages);

        Assert.InRange(GC.GetTotalMemory(forceFullCollection: true) - before, long.MinValue, Messages * 40);
        Assert.All(lost, static subscription => Assert.Equal(0u, subscription.Id));

        async Task SendAsync(int count)
        {
            ScriptedCall[] calls = [.. waiting];
            waiting.Clear();
            left = count;
            await Task.WhenAll(calls.Select(AliveAsync));
            await Patience.UntilAsync(() => waiting.Count == calls.Length, "all messages are sent");
        }

        Task AliveAsync(ScriptedCall call) => call.ReplyAsync(new PublishResponse
        {
            SubscriptionId = script.Id,
            NotificationMessage = new NotificationMessage { SequenceNumber = 1 },
        });
    }
}
