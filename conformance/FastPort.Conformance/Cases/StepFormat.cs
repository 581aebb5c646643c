using System.Text.Json.Nodes;

namespace FastPort.Conformance.Cases;

/// <summary>The keys that steps may have. A key that is misspelled would compare nothing.</summary>
internal static class StepFormat
{
    private static readonly string[] Expectation =
        ["expect", "as", "to", "type", "correlation", "fields", "body", "timing", "deadline", "allow", "on"];

    private static readonly string[] Sending =
    [
        "send", "to", "type", "correlation", "fields", "body", "timing", "deadline", "trace", "more", "flags", "version", "length", "first",
        "pieces", "on",
    ];

    // Of commands and events the adapter knows the fields: those that no event has do not match.
    private static readonly Dictionary<string, string[]?> Keys = new(StringComparer.Ordinal)
    {
        ["accept"] = ["accept"],
        ["barrier"] = ["barrier", "allow", "on"],
        ["bytes"] = ["bytes", "pieces", "on"],
        ["client"] = null,
        ["cut"] = ["cut", "on"],
        ["end"] = ["end", "on"],
        ["ends"] = ["ends", "allow", "on"],
        ["event"] = null,
        ["expect"] = Expectation,
        ["open"] = ["open"],
        ["send"] = Sending,
    };

    /// <exception cref="FormatException">A step, or one within it, has an unknown key.</exception>
    public static void Check(JsonObject step)
    {
        (string verb, JsonNode? value) = step.First();
        if (!Keys.TryGetValue(verb, out string[]? known))
        {
            throw new FormatException($"There is no step '{verb}'; there are {string.Join(", ", Keys.Keys)}.");
        }

        if (known is not null)
        {
            Check(step, known);
        }

        if (verb == "open")
        {
            Check(value!.AsObject(), ["options", "welcome", "again"]);
        }

        foreach (JsonNode? inner in (value as JsonArray ?? []).Concat(step["allow"] as JsonArray ?? []))
        {
            Check(inner!.AsObject(), verb == "send" ? Sending : Expectation);
        }
    }

    private static void Check(JsonObject step, string[] known)
    {
        if (step.Select(static pair => pair.Key).Except(known, StringComparer.Ordinal).FirstOrDefault() is { } unknown)
        {
            throw new FormatException($"'{unknown}' is not known in {step.ToJsonString()}; known are {string.Join(", ", known)}.");
        }
    }
}
