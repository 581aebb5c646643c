using FastPort.Client.Top;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Client.Tests.Top;

public sealed class TopFiguresTests
{
    [Fact]
    public void Rates_and_percentiles_are_those_between_two_looks()
    {
        var before = new ServerStatus
        {
            UptimeMs = 10_000,
            MessagesIn = 100,
            BytesOut = 1000,
            Latencies = { Of("Echo", (1000, 100), (5000, 50)) },
        };
        var now = new ServerStatus
        {
            UptimeMs = 12_000,
            MessagesIn = 300,
            BytesOut = 5000,
            Latencies = { Of("Echo", (1000, 100), (2000, 98), (5000, 51), (9000, 1)), Of("Move", (700, 400)) },
        };

        TopFigures figures = TopFigures.Between(before, now);

        Assert.Equal((100, 2000), (figures.MessagesInPerSecond, figures.BytesOutPerSecond));
        Assert.Equal(
            [new TopType("Echo", 50, 0, 2000, 5000, 9000, 9000), new TopType("Move", 200, 0, 700, 700, 700, 700)], figures.Types);
    }

    [Fact]
    public void Any_figures_of_a_server_can_be_shown()
    {
        var most = new ServerStatus { UptimeMs = ulong.MaxValue, Latencies = { Of("Echo", (ulong.MaxValue, 1)) } };

        Assert.NotNull(new TopView("tcp://127.0.0.1:6628", "rate").Of(TopFigures.Between(new ServerStatus(), most), 80));
    }

    [Fact]
    public void A_type_that_was_not_handled_has_no_percentiles()
    {
        ServerStatus status = new() { UptimeMs = 1000, Latencies = { Of("Echo", (1000, 7)) } };

        TopType type = Assert.Single(TopFigures.Between(status, new ServerStatus(status) { UptimeMs = 2000 }).Types);

        Assert.Equal(new TopType("Echo", 0, 0, null, null, null, null), type);
    }

    [Fact]
    public void Two_types_of_one_name_are_told_apart_by_their_order()
    {
        // Servers of earlier versions have them, as with --queued-echo.
        var before = new ServerStatus { UptimeMs = 1000, Latencies = { Of("Echo", (1000, 10)), Of("Echo", (9000, 70)) } };
        var now = new ServerStatus { UptimeMs = 2000, Latencies = { Of("Echo", (1000, 15)), Of("Echo", (9000, 90)) } };

        TopFigures figures = TopFigures.Between(before, now);

        Assert.Equal([5.0, 20.0], figures.Types.Select(static type => type.PerSecond));
        Assert.Equal([1000UL, 9000UL], figures.Types.Select(static type => type.P50!.Value));
    }

    [Fact]
    public void After_a_restart_of_the_server_everything_counts()
    {
        var before = new ServerStatus { UptimeMs = 90_000, MessagesIn = 5000, Latencies = { Of("Echo", (1000, 5000)) } };
        var now = new ServerStatus { UptimeMs = 500, MessagesIn = 10, Latencies = { Of("Echo", (2000, 10)) } };

        TopFigures figures = TopFigures.Between(before, now);

        Assert.Equal(20, figures.MessagesInPerSecond);
        Assert.Equal(20, figures.Types[0].PerSecond);
    }

    [Fact]
    public void Loops_and_trouble_are_those_between_two_looks()
    {
        var before = new ServerStatus { UptimeMs = 1000, ErrorsSent = 5, FramesDropped = 1, LoopIdleUs = { 900_000, 1_000_000 } };
        var now = new ServerStatus
        {
            UptimeMs = 3000,
            ErrorsSent = 9,
            FramesDropped = 1,
            ConnectionsRejected = 1,
            LoopIdleUs = { 1_400_000, 3_000_000, 2_000_000 },
        };

        TopFigures figures = TopFigures.Between(before, now);

        Assert.Equal((2.0, 0.5, 0.0), (figures.ErrorsPerSecond, figures.RejectedPerSecond, figures.DroppedPerSecond));
        Assert.Equal([0.75, 0, 0], figures.Loops);
    }

    private static MessageLatency Of(string name, params (ulong Nanoseconds, ulong Count)[] buckets)
    {
        var latency = new MessageLatency { Name = name };
        foreach ((ulong nanoseconds, ulong count) in buckets)
        {
            latency.Nanoseconds.Add(nanoseconds);
            latency.Counts.Add(count);
        }

        return latency;
    }
}
