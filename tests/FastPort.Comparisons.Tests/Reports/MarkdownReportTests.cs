using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

public sealed class MarkdownReportTests
{
    [Fact]
    public void A_page_says_of_what_was_verified_what_its_scenario_says_and_no_more()
    {
        ScenarioReport scenario = Measured.Scenario("nodes") with { Method = "Relays are counted." };

        string page = MarkdownReport.Create(Measured.Report(scenario), scenario).ReplaceLineEndings(" ");

        Assert.Contains("Relays are counted.", page, StringComparison.Ordinal);
        Assert.DoesNotContain("verified", page, StringComparison.Ordinal);
    }

    [Fact]
    public void A_page_names_the_kernel_its_congestion_control_and_the_peers_versions()
    {
        ScenarioReport scenario = Measured.Scenario("nodes");
        ComparisonReport report = Measured.Report(scenario) with
        {
            Machine = Measured.Machine with { CongestionControl = "bbr", Peers = "libzmq 4.3.4, OpenSSL 3.0.17" },
        };

        string page = MarkdownReport.Create(report, scenario).ReplaceLineEndings(" ");

        Assert.Contains(
            "Debian <12>, kernel 6.18, TCP with bbr, .NET 10, libzmq 4.3.4, OpenSSL 3.0.17; load average", page,
            StringComparison.Ordinal);
        Assert.Contains("Debian <12>, kernel 6.18, .NET 10; load average", Text(Measured.Report(scenario)), StringComparison.Ordinal);

        string Text(ComparisonReport one) => MarkdownReport.Create(one, scenario).ReplaceLineEndings(" ");
    }
}
