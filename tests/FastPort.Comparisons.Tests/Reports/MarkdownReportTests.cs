using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

public sealed class MarkdownReportTests
{
    [Fact]
    public void A_section_says_of_what_was_verified_what_its_scenario_says_and_no_more()
    {
        ScenarioReport scenario = Measured.Scenario("nodes") with { Method = "Relays are counted." };

        string section = MarkdownReport.Create(Measured.Report(scenario), scenario).ReplaceLineEndings(" ");

        Assert.Contains("Relays are counted.", section, StringComparison.Ordinal);
        Assert.DoesNotContain("verified", section, StringComparison.Ordinal);
    }

    [Fact]
    public void A_section_names_the_kernel_its_congestion_control_and_the_peers_versions()
    {
        ScenarioReport scenario = Measured.Scenario("nodes");
        ComparisonReport report = Measured.Report(scenario) with
        {
            Machine = Measured.Machine with { CongestionControl = "bbr", Peers = "libzmq 4.3.4, OpenSSL 3.0.17" },
        };

        string section = MarkdownReport.Create(report, scenario).ReplaceLineEndings(" ");

        Assert.Contains(
            "Debian <12>, kernel 6.18, TCP with bbr, .NET 10, libzmq 4.3.4, OpenSSL 3.0.17; load average", section,
            StringComparison.Ordinal);
        Assert.Contains("Debian <12>, kernel 6.18, .NET 10; load average", Text(Measured.Report(scenario)), StringComparison.Ordinal);

        string Text(ComparisonReport one) => MarkdownReport.Create(one, scenario).ReplaceLineEndings(" ");
    }
}
