using System.Globalization;

namespace FastPort.Comparisons.Reports;

/// <summary>
/// Writes measured sections into documents, each between its two markers, <c>&lt;!-- measured: NAME --&gt;</c> and
/// <c>&lt;!-- end measured: NAME --&gt;</c>. What people wrote around them stays.
/// </summary>
internal static class DocumentSections
{
    /// <summary>The section of every target.</summary>
    public const string Targets = "targets";

    /// <summary>
    /// Writes every scenario of a report into the document that has its place, and the targets where the report has all of them.
    /// </summary>
    /// <param name="files">The documents. Each section has its place in one of them.</param>
    /// <param name="report">What was measured.</param>
    /// <returns>The sections written.</returns>
    /// <exception cref="ComparisonException">
    /// A document is not there, or none has a place for a scenario: nothing is written then.
    /// </exception>
    public static IReadOnlyList<string> Write(IReadOnlyList<string> files, ComparisonReport report)
    {
        string current = files[0];
        try
        {
            var texts = new List<string>();
            foreach (string file in files)
            {
                current = file;
                texts.Add(File.ReadAllText(file));
            }

            var written = new List<string>();
            foreach (ScenarioReport scenario in report.Scenarios)
            {
                Replace(files, texts, scenario.Name, MarkdownReport.Create(report, scenario));
                written.Add(scenario.Name);
            }

            if (report.Scenarios.Count > 1)
            {
                Replace(files, texts, Targets, MarkdownReport.Targets(report));
                written.Add(Targets);
            }

            for (int i = 0; i < files.Count; i++)
            {
                current = files[i];
                File.WriteAllText(current, texts[i]);
            }

            return written;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw new ComparisonException($"The report cannot be written into {current}: {exception.Message}", exception);
        }
    }

    private static void Replace(IReadOnlyList<string> files, List<string> texts, string name, string content)
    {
        string begin = string.Create(CultureInfo.InvariantCulture, $"<!-- measured: {name} -->");
        string end = string.Create(CultureInfo.InvariantCulture, $"<!-- end measured: {name} -->");
        for (int i = 0; i < texts.Count; i++)
        {
            string text = texts[i];
            int from = text.IndexOf(begin, StringComparison.Ordinal);
            int to = text.IndexOf(end, StringComparison.Ordinal);
            if (from >= 0 && to > from)
            {
                texts[i] = $"{text[..(from + begin.Length)]}\n\n{content}\n{text[to..]}";
                return;
            }
        }

        string verb = files.Count == 1 ? "has" : "have";
        throw new ComparisonException(
            $"{string.Join(" and ", files)} {verb} no place for '{name}': write '{begin}' and '{end}' where it belongs.");
    }
}
