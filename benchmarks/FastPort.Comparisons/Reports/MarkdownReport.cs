using System.Globalization;
using System.Text;

namespace FastPort.Comparisons.Reports;

/// <summary>The report as a section for docs/performance.md.</summary>
internal static class MarkdownReport
{
    public static string Create(ComparisonReport report)
    {
        var text = new StringBuilder();
        foreach (ScenarioReport scenario in report.Scenarios)
        {
            text.Append(CultureInfo.InvariantCulture, $"## Comparison: {scenario.Name}\n\n{scenario.Description}\n\n");
            AppendMethod(text, report);
            Append(text, ReportTables.Figures(scenario));
            Append(text, ReportTables.Ratios(scenario));
            AppendNotes(text, [.. report.Notes, .. ReportNotes.Of(scenario)]);
        }

        return text.ToString().TrimEnd('\n') + "\n";
    }

    private static void AppendMethod(StringBuilder text, ComparisonReport report)
    {
        RunSettings settings = report.Settings;
        MachineInfo machine = report.Machine;
        string cores = settings.ServerCore is null
            ? "nothing pinned to a core"
            : $"servers pinned to core {settings.ServerCore}, load client to core {settings.ClientCore}, in lock-step both to core {settings.ServerCore}";
        text.Append(CultureInfo.InvariantCulture, $"    {report.Command}\n\n");
        text.Append(
            CultureInfo.InvariantCulture,
            $"{report.Date:yyyy-MM-dd}, commit {report.Commit}, {machine.Cpu}, {machine.CpuCount} cores ({machine.Hypervisor}), {machine.MemoryGb} GB, ");
        text.Append(
            CultureInfo.InvariantCulture,
            $"{machine.Os}, {machine.Runtime}; load average before the run {machine.LoadAverageBefore}. Loopback, {cores}; ");
        text.Append(
            CultureInfo.InvariantCulture,
            $"a fresh server process per workload with {settings.WarmupSeconds} s of warm-up, {settings.Repetitions} runs of {settings.Seconds} s each, alternating. ");
        text.Append("Medians; a target is held against the median of the pairwise ratios. Every reply was verified.\n\n");
    }

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

    private static void AppendRow(StringBuilder text, IEnumerable<string> cells) => text.Append("| ").AppendJoin(" | ", cells).Append(" |\n");

    private static void AppendNotes(StringBuilder text, IReadOnlyList<string> notes)
    {
        foreach (string note in notes)
        {
            text.Append("- ").Append(note.ReplaceLineEndings(" ")).Append('\n');
        }

        if (notes.Count > 0)
        {
            text.Append('\n');
        }
    }
}
