using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace FastPort.Comparisons.Reports;

/// <summary>The report as JSON, to and from.</summary>
internal static class JsonReport
{
    private static readonly JsonSerializerOptions Format = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        WriteIndented = true,

        // A very short run may see no CPU time at all, and a ratio of that is no number.
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,

        // The file is read by people and programs, never put into a page.
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    public static string Create(ComparisonReport report) => JsonSerializer.Serialize(report, Format) + "\n";

    /// <summary>Reads a report that this program has written.</summary>
    /// <exception cref="ComparisonException">There is no such file, or it holds no report of this version.</exception>
    public static ComparisonReport Read(string file)
    {
        try
        {
            ComparisonReport report = JsonSerializer.Deserialize<ComparisonReport>(File.ReadAllText(file), Format)
                ?? throw new JsonException("null");
            return report.Schema == ComparisonReport.CurrentSchema
                ? report
                : throw new ComparisonException(
                    $"{file} has schema {report.Schema}; this program reads {ComparisonReport.CurrentSchema}: measure again.");
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or JsonException)
        {
            throw new ComparisonException($"{file} is not to be read as a report: {exception.Message}", exception);
        }
    }
}
