using Spectre.Console;

namespace FastPort.Comparisons.Reports;

/// <summary>The report as tables on the console.</summary>
internal static class ConsoleReport
{
    public static void Write(ComparisonReport report, IAnsiConsole console)
    {
        foreach (ScenarioReport scenario in report.Scenarios)
        {
            console.WriteLine();
            console.WriteLine($"{scenario.Name}: {scenario.Description}");
            Write(ReportTables.Figures(scenario), console);
            Write(ReportTables.Ratios(scenario), console);
            foreach (ReportTable table in scenario.Tables)
            {
                Write(table, console);
            }

            foreach (string line in ReportNotes.Of(scenario))
            {
                console.WriteLine(line);
            }
        }

        WriteTargets(report, console);
        foreach (string note in report.Notes)
        {
            console.WriteLine(note);
        }
    }

    private static void WriteTargets(ComparisonReport report, IAnsiConsole console)
    {
        if (report.Targeted().Count + report.NotMeasured() == 0)
        {
            return;
        }

        ReportTable missed = ReportTables.MissedTargets(report);
        console.WriteLine();
        console.WriteLine($"Targets: {ReportTables.Verdict(report)}{(missed.Rows.Count > 0 ? ":" : ".")}");
        Write(missed, console);
    }

    private static void Write(ReportTable content, IAnsiConsole console)
    {
        if (content.Rows.Count == 0)
        {
            return;
        }

        var table = new Table { Border = TableBorder.Rounded };
        for (int i = 0; i < content.Headers.Count; i++)
        {
            var column = new TableColumn(new Text(content.Headers[i])) { Alignment = i < 2 ? Justify.Left : Justify.Right };
            table.AddColumn(column);
        }

        foreach (IReadOnlyList<string> row in content.Rows)
        {
            table.AddRow(row.Select(cell => new Text(cell)));
        }

        console.Write(table);
    }
}
