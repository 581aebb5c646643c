using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons;

/// <summary>Writes reports measured before into documents.</summary>
internal static class ReportRun
{
    /// <returns>An <see cref="ExitCode"/>.</returns>
    public static int Run(IReadOnlyList<string> files, IReadOnlyList<string> documents)
    {
        try
        {
            foreach (string file in files)
            {
                IReadOnlyList<string> written = DocumentSections.Write(documents, JsonReport.Read(file));
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
