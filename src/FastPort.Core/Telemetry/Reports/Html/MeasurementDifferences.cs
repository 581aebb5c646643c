using System.Globalization;
using System.Text.Json;

namespace FastPort.Telemetry.Reports.Html;

/// <summary>Finds the settings and environments in which two measurements differ: their figures are then not comparable.</summary>
internal static class MeasurementDifferences
{
    // A measured time that differs by less than this share is the same.
    private const double SameDuration = 0.05;

    // Not how the server is reached, and not the commit, which is usually what is compared.
    private static readonly string[] Settings =
    [
        "role", "mode", "hosted", "connections", "in_flight", "payload_bytes", "rate", "transport", "warmup_s", "loops", "spin_us",
        "pin_loops",
    ];

    private static readonly string[] Surroundings = ["os", "cpu_count", "runtime", "gc"];

    /// <summary>
    /// The differences, a sentence each. Fields that are missing in one of the files are left out: earlier versions wrote fewer.
    /// </summary>
    /// <param name="before">The JSON of the measurement before.</param>
    /// <param name="after">The JSON of the measurement after.</param>
    internal static IReadOnlyList<string> Find(JsonElement before, JsonElement after)
    {
        List<string> differences = [];
        Compare(before, after, Settings, differences);
        CompareDurations(before, after, differences);
        if (before.TryGetProperty("environment", out JsonElement x) && after.TryGetProperty("environment", out JsonElement y))
        {
            Compare(x, y, Surroundings, differences);
        }

        return differences;
    }

    private static void Compare(JsonElement before, JsonElement after, string[] names, List<string> differences)
    {
        foreach (string name in names)
        {
            if (before.TryGetProperty(name, out JsonElement x) && after.TryGetProperty(name, out JsonElement y) && Shown(x) != Shown(y))
            {
                differences.Add($"{name} differs: {Shown(x)} before, {Shown(y)} after.");
            }
        }
    }

    private static void CompareDurations(JsonElement before, JsonElement after, List<string> differences)
    {
        if (before.TryGetProperty("duration_s", out JsonElement x) && after.TryGetProperty("duration_s", out JsonElement y)
            && x.TryGetDouble(out double from) && y.TryGetDouble(out double to) && Math.Abs(from - to) > SameDuration * Math.Max(from, to))
        {
            differences.Add(string.Create(
                CultureInfo.InvariantCulture, $"duration_s differs: {from:0.0} before, {to:0.0} after."));
        }
    }

    private static string Shown(JsonElement value) => value.ValueKind == JsonValueKind.Null ? "none" : value.ToString();
}
