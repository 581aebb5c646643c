using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace FastPort.Comparisons.Reports;

/// <summary>The report as JSON, schema 1.</summary>
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
}
