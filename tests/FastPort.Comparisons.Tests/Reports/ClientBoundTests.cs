using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

/// <summary>Where the one client of all has no more to give, the rate is the client's, and the servers' CPU per message decides.</summary>
public sealed class ClientBoundTests
{
    private static readonly Target Wanted = Target.AtLeast(0.6);

    [Theory]
    [InlineData(0.90, 0.84, true)]
    [InlineData(1.00, 0.50, true)]
    [InlineData(0.89, 0.20, false)]
    [InlineData(0.95, 0.91, false)]
    [InlineData(0.95, 1.00, false)]
    public void The_client_limits_where_it_is_saturated_and_the_server_is_not(double client, double server, bool bound) =>
        Assert.Equal(bound, Measured.Contestant("A", Run(client, server), Run(client, server)).IsClientBound());

    [Fact]
    public void Medians_of_the_runs_decide()
    {
        Assert.True(Measured.Contestant("A", Run(0.5, 0.99), Run(0.97, 0.7), Run(0.98, 0.7)).IsClientBound());
        Assert.False(Measured.Contestant("A", Run(0.5, 0.2), Run(0.6, 0.2), Run(0.98, 0.2)).IsClientBound());
    }

    [Fact]
    public void One_whose_shares_nobody_measured_is_not_bound()
    {
        Assert.False(Measured.Contestant("A", Metric.ServerCpuShare, 0.5).IsClientBound());
        Assert.False(Measured.Contestant("A", Metric.ClientCpuShare, 1).IsClientBound());
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public void The_CPU_per_message_decides_where_the_client_limits_either(bool subject, bool reference)
    {
        RatioReport[] ratios = Ask(Metric.Throughput, subject, reference, hasOneClient: true);

        Assert.Equal(2, ratios.Length);
        Assert.Equal(("messages/s", null, null), (ratios[0].Metric, ratios[0].Target, ratios[0].Reached));
        Assert.Equal(0.9, ratios[0].Pairwise!.Median, 6);
        Assert.Equal("messages per s of server CPU (the client had no more to give)", ratios[1].Metric);

        // Twice the CPU a message is half the messages.
        Assert.Equal((0.5, Wanted, false), (ratios[1].Pairwise!.Median, ratios[1].Target, ratios[1].Reached));
    }

    [Theory]
    [InlineData(false, false, true)]
    [InlineData(true, true, false)]
    public void The_rate_decides_where_the_server_limits_or_each_brings_its_own_client(bool subject, bool reference, bool hasOneClient)
    {
        RatioReport ratio = Assert.Single(Ask(Metric.Throughput, subject, reference, hasOneClient));

        Assert.Equal(("messages/s", Wanted, true), (ratio.Metric, ratio.Target, ratio.Reached));
    }

    [Fact]
    public void Other_questions_are_answered_as_they_are()
    {
        RatioReport ratio = Assert.Single(Ask(Metric.ServerCpuPerMessage, true, true, hasOneClient: true));

        Assert.Equal((2, Wanted, true), (ratio.Pairwise!.Median, ratio.Target, ratio.Reached));
    }

    [Fact]
    public void The_notes_name_those_that_the_client_limits()
    {
        WorkloadReport workload = Measured.Workload(
            "1 KiB", Contestant("A", 90, 2, true), Contestant("B", 100, 1, false), Metric.Throughput, Wanted);

        Assert.Empty(ReportNotes.Of(Measured.Scenario("peers", workload)));
        Assert.Equal(
            ["1 KiB: the client had no more to give against A: the server's CPU per message decides, not the rate"],
            ReportNotes.Of(Measured.Scenario("peers", workload with { HasOneClient = true })));
    }

    private static RatioReport[] Ask(Metric metric, bool subject, bool reference, bool hasOneClient) =>
    [
        .. RatioReport.Create(
            new RatioQuestion(metric, "A", "B", Wanted), [Contestant("A", 90, 2, subject), Contestant("B", 100, 1, reference)],
            hasOneClient),
    ];

    private static ContestantReport Contestant(string name, double rate, double cpu, bool bound)
    {
        Figures run = Run(bound ? 0.98 : 0.6, bound ? 0.7 : 0.99);
        run[Metric.Throughput] = rate;
        run[Metric.ServerCpuPerMessage] = cpu;
        return Measured.Contestant(name, run, run);
    }

    private static Figures Run(double client, double server) =>
        new() { [Metric.ClientCpuShare] = client, [Metric.ServerCpuShare] = server };
}
