using System.Globalization;

namespace FastPort.Comparisons.Reports;

/// <summary>
/// Writes measured sections into a document, each between its two markers, <c>&lt;!-- measured: NAME --&gt;</c> and <c>&lt;!-- end measured: NAME --&gt;</c>. What
/// people wrote around them stays.
/// </summary>
internal static class DocumentSections
{
    /// <summary>The section of every target.</summary>
    public const string Targets = "targets";

    /// <summary>Writes every scenario of a report that has a place in the document, and the targets where the report has all of them.</summary>
    /// <param name="file">The document.</param>
    /// <param name="report">What was measured.</param>
    /// <returns>The sections written.</returns>
    /// <exception cref="ComparisonException">The document is not there, or has no place for a scenario.</exception>
    public static IReadOnlyList<string> Write(string file, ComparisonReport report)
    {
        try
        {
            string text = File.ReadAllText(file);
            var written = new List<string>();
            foreach (ScenarioReport scenario in report.Scenarios)
            {
                text = Replace(text, scenario.Name, MarkdownReport.Create(report, scenario), file);
                written.Add(scenario.Name);
            }

            if (report.Scenarios.Count > 1)
            {
                text = Replace(text, Targets, MarkdownReport.Targets(report), file);
                written.Add(Targets);
            }

            File.WriteAllText(file, text);
            return written;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw new ComparisonException($"The report cannot be written into {file}: {exception.Message}", exception);
        }
    }

    private static string Replace(string text, string name, string content, string file)
    {
        string begin = string.Create(CultureInfo.InvariantCulture, $"<!-- measured: {name} -->");
        string end = string.Create(CultureInfo.InvariantCulture, $"<!-- end measured: {name} -->");
        int from = text.IndexOf(begin, StringComparison.Ordinal);
        int to = text.IndexOf(end, StringComparison.Ordinal);
        return from >= 0 && to > from
            ? $"{text[..(from + begin.Length)]}\n\n{content}\n{text[to..]}"
            : throw new ComparisonException($"{file} has no place for '{name}': write '{begin}' and '{end}' where it belongs.");
    }
}
