namespace FastPort.Comparisons.Reports;

/// <summary>A table of text that console and Markdown both print. The first two columns are left-aligned, the others are figures.</summary>
internal sealed record ReportTable(IReadOnlyList<string> Headers, IReadOnlyList<IReadOnlyList<string>> Rows);
