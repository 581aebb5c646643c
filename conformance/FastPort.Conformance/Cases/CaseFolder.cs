using System.Text.Json;
using System.Text.Json.Nodes;

namespace FastPort.Conformance.Cases;

/// <summary>Reads the cases of a folder. A mistake in one of them is an error, so that no case is lost.</summary>
internal static class CaseFolder
{
    /// <summary>Capabilities that a client may lack; every client has the others.</summary>
    public static readonly string[] Capabilities =
    [
        "calls", "handlers", "heartbeat", "peers", "reconnect", "relay", "resend", "session-id", "stream-handlers", "streams", "tags",
        "timing", "topics", "trace",
    ];

    private static readonly TimeSpan UsualBound = TimeSpan.FromSeconds(10);

    private static readonly string[] Keys = ["shows", "section", "needs", "within", "variants", "steps"];

    /// <summary>The folder next to this program.</summary>
    public static string Default { get; } = Path.Combine(AppContext.BaseDirectory, "cases");

    /// <exception cref="FormatException">A file is not a case; the message names it.</exception>
    public static IReadOnlyList<ConformanceCase> Read(string folder) =>
    [
        .. Directory.EnumerateFiles(folder, "*.json", SearchOption.AllDirectories)
            .Order(StringComparer.Ordinal)
            .SelectMany(file => Read(file, Path.GetRelativePath(folder, file))),
    ];

    private static IEnumerable<ConformanceCase> Read(string file, string path)
    {
        string name = Path.ChangeExtension(path, null).Replace('\\', '/');
        try
        {
            JsonObject all = JsonNode.Parse(File.ReadAllText(file))!.AsObject();
            string? unknown = all.Select(static pair => pair.Key).Except(Keys, StringComparer.Ordinal).FirstOrDefault();
            if (unknown is not null)
            {
                throw new FormatException($"'{unknown}' is not known; known are {string.Join(", ", Keys)}.");
            }

            JsonObject variants = all["variants"]?.AsObject() ?? new JsonObject { [string.Empty] = new JsonObject() };
            return [.. variants.Select(variant => Case(all, variant.Key.Length == 0 ? name : $"{name} ({variant.Key})", variant.Value!))];
        }
        catch (Exception e) when (e is FormatException or JsonException or InvalidOperationException or KeyNotFoundException)
        {
            throw new FormatException($"{file}: {e.Message}", e);
        }
    }

    private static ConformanceCase Case(JsonObject all, string name, JsonNode variant)
    {
        string[] needs = [.. (all["needs"]?.AsArray() ?? []).Select(static need => need!.GetValue<string>())];
        string? unknown = needs.Except(Capabilities, StringComparer.Ordinal).FirstOrDefault();
        List<JsonObject> steps = [.. (all["steps"]?.AsArray() ?? []).Select(static step => step!.AsObject())];
        steps.ForEach(StepFormat.Check);
        if (steps.Count == 0)
        {
            throw new FormatException("'steps' are missing.");
        }

        return unknown is not null
            ? throw new FormatException($"There is no capability '{unknown}'; there are {string.Join(", ", Capabilities)}.")
            : new ConformanceCase(
                name,
                Text(all, "shows"),
                Text(all, "section"),
                needs,
                all["within"] is { } seconds ? TimeSpan.FromSeconds(seconds.GetValue<double>()) : UsualBound,
                variant.AsObject(),
                steps);
    }

    private static string Text(JsonObject all, string key) =>
        all[key]?.GetValue<string>() ?? throw new FormatException($"'{key}' is missing.");
}
