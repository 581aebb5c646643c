using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Counters;

public sealed class SessionCountersTests
{
    [Fact]
    public async Task Counts_from_many_threads_are_exact()
    {
        var counters = new SessionCounters();
        await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => Task.Run(() =>
        {
            for (var i = 0; i < 20_000; i++)
            {
                counters.Received(2, 100);
                counters.Sent(1, 50);
                counters.Connections.Accepted();
            }
        })));

        var snapshot = counters.Snapshot();

        Assert.Equal(
            (320_000, 16_000_000, 160_000, 8_000_000),
            (snapshot.MessagesIn, snapshot.BytesIn, snapshot.MessagesOut, snapshot.BytesOut));
        Assert.Equal(160_000, snapshot.ConnectionsOpen);
    }

    [Fact]
    public void Every_event_has_its_own_counter()
    {
        var counters = new SessionCounters();
        counters.Connections.Accepted();
        counters.Connections.Accepted();
        counters.Connections.Accepted();
        counters.Connections.Closed();
        counters.SessionOpened();
        counters.SessionOpened();
        counters.SessionClosed();
        counters.Connections.Rejected(ConnectionRejection.AddressLimit);
        counters.Connections.Rejected(ConnectionRejection.ConnectionLimit);
        counters.FramesDropped(FrameDrop.SendQueueFull, 5);
        counters.TimeoutClosed(ConnectionTimeout.Idle);
        counters.ErrorSent(9);
        counters.ErrorSent(14);
        counters.ErrorSent(4_000_000_000);
        counters.OneWayFailed(3);
        counters.ReplyToNothing();
        counters.Connections.AcceptFailed();

        var snapshot = counters.Snapshot();

        Assert.Equal((3, 1, 2), (snapshot.ConnectionsAccepted, snapshot.ConnectionsClosed, snapshot.ConnectionsOpen));
        Assert.Equal((2, 1, 1), (snapshot.SessionsOpened, snapshot.SessionsClosed, snapshot.SessionsOpen));
        Assert.Equal((2, 1), (snapshot.ConnectionsRejected, snapshot.ConnectionsRejectedFor(ConnectionRejection.AddressLimit)));
        Assert.Equal((5, 5), (snapshot.FramesDropped, snapshot.FramesDroppedFor(FrameDrop.SendQueueFull)));
        Assert.Equal(0, snapshot.FramesDroppedFor(FrameDrop.Policy));
        Assert.Equal((1, 1), (snapshot.TimeoutsClosed, snapshot.TimeoutsClosedBy(ConnectionTimeout.Idle)));
        Assert.Equal(
            (3, 1, 1, 1), (snapshot.ErrorsSent, snapshot.ErrorsSentWith(0), snapshot.ErrorsSentWith(9), snapshot.ErrorsSentWith(14)));
        Assert.Equal((1, 1), (snapshot.OneWayFailures, snapshot.OneWayFailuresWith(3)));
        Assert.Equal((1, 1), (snapshot.RepliesToNothing, snapshot.AcceptErrors));
        Assert.Throws<ArgumentOutOfRangeException>(() => snapshot.ErrorsSentWith(15));
    }

    [Fact]
    public void Counting_allocates_nothing()
    {
        var counters = new SessionCounters();
        CountAll(counters, 100);

        Assert.Equal(0, Allocations.LeastOf(() => CountAll(counters, 10_000)));
    }

    private static void CountAll(SessionCounters counters, int times)
    {
        for (var i = 0; i < times; i++)
        {
            counters.Received(1, 80);
            counters.Sent(1, 80);
            counters.ErrorSent(9);
            counters.FramesDropped(FrameDrop.Policy);
        }
    }
}
