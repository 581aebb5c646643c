using System.Globalization;
using System.Text;

namespace FastPort.Comparisons.Reports;

/// <summary>
/// The report as sections of docs/performance.md and docs/measurements.md. Prose is wrapped at 140 characters; tables are not.
/// </summary>
internal static class MarkdownReport
{
    private const int MaxLine = 140;

    /// <summary>Every scenario and, behind them, every target.</summary>
    public static string Create(ComparisonReport report)
    {
        var text = new StringBuilder();
        foreach (ScenarioReport scenario in report.Scenarios)
        {
            text.Append(CultureInfo.InvariantCulture, $"## {scenario.Name}\n\n").Append(Create(report, scenario)).Append('\n');
        }

        return text.Append("## Targets\n\n").Append(Targets(report)).ToString();
    }

    /// <summary>One scenario: how it was measured, its tables, its notes.</summary>
    public static string Create(ComparisonReport report, ScenarioReport scenario)
    {
        var text = new StringBuilder();
        AppendWrapped(text, scenario.Description);
        text.Append(CultureInfo.InvariantCulture, $"\n    {report.Command}\n\n");
        AppendWrapped(text, $"{Method(report, scenario)} {scenario.Method}");
        text.Append('\n');
        Append(text, ReportTables.Figures(scenario));
        Append(text, ReportTables.Ratios(scenario));
        foreach (ReportTable table in scenario.Tables)
        {
            Append(text, table);
        }

        string[] notes = [.. report.Notes, .. ReportNotes.Of(scenario)];
        foreach (string note in notes)
        {
            AppendWrapped(text, $"- {note.ReplaceLineEndings(" ")}", "  ");
        }

        return text.ToString().TrimEnd('\n') + "\n";
    }

    /// <summary>Every target of the report.</summary>
    public static string Targets(ComparisonReport report)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"{report.Date:yyyy-MM-dd}, commit {report.Commit}: {ReportTables.Verdict(report)}.\n\n");
        Append(text, ReportTables.Targets(report));
        return text.ToString().TrimEnd('\n') + "\n";
    }

    private static string Method(ComparisonReport report, ScenarioReport scenario)
    {
        RunSettings settings = report.Settings;
        MachineInfo machine = report.Machine;
        string cores = settings.ServerCore is null
            ? "nothing pinned to a core"
            : $"servers on core {settings.ServerCore}, clients on core {settings.ClientCore}";
        string where = string.Create(
            CultureInfo.InvariantCulture,
            $"{report.Date:yyyy-MM-dd}, commit {report.Commit}, {machine.Cpu}, {machine.CpuCount} cores ({machine.Hypervisor}), ")
            + string.Create(
                CultureInfo.InvariantCulture,
                $"{machine.MemoryGb} GB, {machine.Os}, kernel {machine.Kernel}{Listed("TCP with ", machine.CongestionControl)}, "
                + $"{machine.Runtime}{Listed("", machine.Peers)}; load average before the run {machine.LoadAverageBefore}. Loopback");

        // One that has no candidates to compare says for itself how it ran.
        return scenario.Columns.Count == 0 ? $"{where}." : string.Create(
            CultureInfo.InvariantCulture,
            $"{where}, {cores}; {settings.Repetitions} runs of {settings.Seconds} s each, alternating between the candidates, ")
            + string.Create(CultureInfo.InvariantCulture, $"after {settings.WarmupSeconds} s of warm-up of each .NET process. ")
            + "Medians, in brackets the range of the runs; a target is held against the median of the pairwise ratios.";
    }

    private static string Listed(string before, string text) => text.Length == 0 ? "" : $", {before}{text}";

    private static void Append(StringBuilder text, ReportTable table)
    {
        if (table.Rows.Count == 0)
        {
            return;
        }

        AppendRow(text, table.Headers);
        AppendRow(text, table.Headers.Select((_, i) => i < 2 ? "---" : "---:"));
        foreach (IReadOnlyList<string> row in table.Rows)
        {
            AppendRow(text, row);
        }

        text.Append('\n');
    }

    private static void AppendWrapped(StringBuilder text, string prose, string indent = "")
    {
        int length = 0;
        foreach (string word in prose.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            if (length > 0 && length + 1 + word.Length > MaxLine)
            {
                text.Append('\n').Append(indent);
                length = indent.Length;
            }
            else if (length > 0)
            {
                text.Append(' ');
                length++;
            }

            text.Append(word);
            length += word.Length;
        }

        text.Append('\n');
    }

    private static void AppendRow(StringBuilder text, IEnumerable<string> cells) =>
        text.Append("| ").AppendJoin(" | ", cells).Append(" |\n");
}
