using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons;

/// <summary>Writes reports measured before into documents.</summary>
internal static class ReportRun
{
    /// <param name="files">The reports. One that lacks something is refused: its tables would take the place of whole ones.</param>
    /// <param name="documents">The documents.</param>
    /// <param name="allowsQuick">Whether reports of quick runs may be written.</param>
    /// <returns>An <see cref="ExitCode"/>.</returns>
    public static int Run(IReadOnlyList<string> files, IReadOnlyList<string> documents, bool allowsQuick)
    {
        try
        {
            foreach (string file in files)
            {
                ComparisonReport report = JsonReport.Read(file);
                if (report.Unpublishable(allowsQuick) is { } why)
                {
                    throw new ComparisonException($"{file} is not written into documents: {why}.");
                }

                IReadOnlyList<string> written = DocumentSections.Write(documents, report);
                Console.WriteLine($"{file}: wrote {string.Join(", ", written)} into {string.Join(", ", documents)}");
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
