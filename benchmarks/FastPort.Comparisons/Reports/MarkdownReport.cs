using System.Globalization;
using System.Text;

namespace FastPort.Comparisons.Reports;

/// <summary>A scenario of a report as a page of docs/measurements. Prose is wrapped at 140 characters; tables are not.</summary>
internal static class MarkdownReport
{
    private const int MaxLine = 140;
    private const string ReportCommand = "dotnet run -c Release --project benchmarks/FastPort.Comparisons -- report measured.json";

    /// <summary>The page: how the scenario was measured, its tables, its notes.</summary>
    public static string Create(ComparisonReport report, ScenarioReport scenario)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"# Measured: {scenario.Name}\n\n");
        AppendWrapped(text, scenario.Description);
        text.Append("\nThis page is generated from one run; [performance.md](../performance.md) explains how to measure:\n");
        text.Append("\n    ");
        AppendWrapped(text, $"{report.Command} --json measured.json", "      ", " \\");
        text.Append(CultureInfo.InvariantCulture, $"    {ReportCommand}\n\n");
        AppendWrapped(text, $"{Method(report, scenario)} {scenario.Method}");
        text.Append('\n');
        Append(text, ReportTables.Figures(scenario));
        ComparisonReport alone = report with { Scenarios = [scenario] };
        if (alone.Targeted().Count + alone.NotMeasured() > 0)
        {
            text.Append(CultureInfo.InvariantCulture, $"Targets: {ReportTables.Verdict(alone)}.\n\n");
        }

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

    private static void AppendWrapped(StringBuilder text, string prose, string indent = "", string lineEnd = "")
    {
        int length = 0;
        foreach (string word in prose.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            if (length > 0 && indent.Length + length + 1 + word.Length + lineEnd.Length > MaxLine)
            {
                text.Append(lineEnd).Append('\n').Append(indent);
                length = 0;
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
