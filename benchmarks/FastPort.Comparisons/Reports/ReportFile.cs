namespace FastPort.Comparisons.Reports;

/// <summary>Writes a report where the command line says.</summary>
internal static class ReportFile
{
    /// <exception cref="ComparisonException">It cannot be written.</exception>
    public static void Write(string? path, string content)
    {
        if (path is null)
        {
            return;
        }

        try
        {
            string full = Path.GetFullPath(path);
            Directory.CreateDirectory(Path.GetDirectoryName(full) ?? full);
            File.WriteAllText(full, content);
        }
        catch (Exception exception) when (
            exception is IOException or UnauthorizedAccessException or ArgumentException or NotSupportedException)
        {
            throw new ComparisonException($"The report cannot be written to {path}: {exception.Message}", exception);
        }
    }
}
