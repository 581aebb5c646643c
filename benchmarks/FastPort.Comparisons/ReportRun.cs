using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons;

/// <summary>Writes reports measured before into the documentation, each scenario as a page: what stood there is gone.</summary>
internal static class ReportRun
{
    /// <param name="files">The reports. One that lacks something is refused: its pages would take the place of whole ones.</param>
    /// <param name="folder">Where the pages are.</param>
    /// <param name="allowsQuick">Whether reports of quick runs may be written.</param>
    /// <returns>An <see cref="ExitCode"/>.</returns>
    public static int Run(IReadOnlyList<string> files, string folder, bool allowsQuick)
    {
        try
        {
            foreach (string file in files)
            {
                ComparisonReport report = JsonReport.Read(file);
                if (report.Unpublishable(allowsQuick) is { } why)
                {
                    throw new ComparisonException($"{file} is not written into the documentation: {why}.");
                }

                foreach (ScenarioReport scenario in report.Scenarios)
                {
                    string page = Path.Combine(folder, $"{scenario.Name}.md");
                    ReportFile.Write(page, MarkdownReport.Create(report, scenario));
                    Console.WriteLine($"{file}: wrote {page}");
                }
            }

            return ExitCode.Good;
        }
        catch (ComparisonException exception)
        {
            Console.Error.WriteLine(exception.Message);
            return ExitCode.Failed;
        }
    }
}
