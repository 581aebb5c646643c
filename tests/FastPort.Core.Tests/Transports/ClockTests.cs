using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>The coarse clock reaches every connection as long as it lives.</summary>
public sealed class ClockTests
{
    [Theory, EveryLink]
    public async Task Every_connection_that_wants_it_is_told_of_every_tick_until_its_end(string link)
    {
        var time = new FakeTimeProvider();
        await using TestLink open = TestLink.Open(link, time: time);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync(EveryTick(), EveryTick());
        await LoopsAsync(client, server);

        for (int tick = 1; tick <= 10; tick++)
        {
            time.Advance(ConnectionClock.Period);
            await Patience.UntilAsync(() => (client.Ticks, server.Ticks) == (tick, tick), "both were told");

            // The clock learns after the call when the next one is due.
            await LoopsAsync(client, server);
        }

        client.Connection.Close(CloseReason.LocalClosed);
        await client.ClosedAsync();
        await server.ClosedAsync();
        time.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal((10, 10), (client.Ticks, server.Ticks));
    }

    [Theory, EveryLink]
    public async Task A_protocol_that_throws_in_a_tick_ends_its_own_connection_alone(string link)
    {
        var time = new FakeTimeProvider();
        await using TestLink open = TestLink.Open(link, time: time);
        (RawEnd first, TestProtocol broken) = await open.ConnectRawAsync(
            new TestProtocol { Ticked = static () => throw new InvalidOperationException("A defect.") });
        (RawEnd second, TestProtocol sound) = await open.ConnectRawAsync(new TestProtocol());
        await LoopsAsync(broken, sound);

        time.Advance(TimeSpan.FromMilliseconds(100));

        Assert.Equal(CloseKind.Internal, (await broken.ClosedAsync()).Kind);
        await first.ExpectGoneAsync();
        await Patience.UntilAsync(() => sound.Ticks == 1, "the other was told");
        Assert.False(sound.Closed.IsCompleted);
        Assert.Single(open.Log.WithId(1000));
    }

    [Theory, EveryLink]
    public async Task One_that_does_not_is_told_of_the_first_and_of_those_after_a_burst_and_a_flush(string link)
    {
        var time = new FakeTimeProvider();
        await using TestLink open = TestLink.Open(link, time: time);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();
        await LoopsAsync(client, server);
        time.Advance(TimeSpan.FromMilliseconds(100));
        await Patience.UntilAsync(() => (client.Ticks, server.Ticks) == (1, 1), "both were told");
        await LoopsAsync(client, server);
        time.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal((1, 1), (client.Ticks, server.Ticks));

        Assert.True(client.TryWrite([1, 2, 3]));
        client.Connection.Flush();
        await server.ReceivedAsync(3);
        await Patience.UntilAsync(() => client.Connection.PendingBytes == 0, "all is sent");
        time.Advance(TimeSpan.FromMilliseconds(100));
        await Patience.UntilAsync(() => (client.Ticks, server.Ticks) == (2, 2), "both were told");

        client.Connection.RequestTick();
        time.Advance(TimeSpan.FromMilliseconds(100));
        await Patience.UntilAsync(() => client.Ticks == 3, "the client was told");
        time.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(3, client.Ticks);
        Assert.InRange(server.Ticks, 2, 3);
    }

    // Until the loops have done what they were at: a connection enters the clock after OnOpened, and a tick's end tells the next one.
    private static async Task LoopsAsync(params TestProtocol[] ends)
    {
        foreach (TestProtocol end in ends)
        {
            var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Assert.True(end.Connection.Post(static done => ((TaskCompletionSource)done!).SetResult(), done));
            await done.Task.InTimeAsync();
        }
    }

    private static TestProtocol EveryTick() => new() { NextTick = ConnectionClock.NextTick };
}
