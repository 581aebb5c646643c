using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

public sealed class ReportNotesTests
{
    [Fact]
    public void A_row_whose_runs_differ_by_more_than_a_factor_of_3_is_to_be_repeated()
    {
        WorkloadReport workload = Measured.Workload(
            "64 B", Measured.Contestant("A", Metric.Throughput, 10, 31, 30), Measured.Contestant("B", Metric.Throughput, 10, 30, 20),
            Metric.Throughput, null);

        Assert.Equal(
            ["64 B: A's largest messages/s is 3.1 times the smallest; repeat this row"],
            ReportNotes.Of(Measured.Scenario("opcua", workload)));
    }
}
