using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace FastPort.Conformance;

/// <summary>The values of a case that have names: <c>$name</c>. The first comparison with a name gives it its value.</summary>
internal sealed class Values
{
    private readonly Dictionary<string, JsonNode?> _values = new(StringComparer.Ordinal);

    public void Set(string name, JsonNode? value) => _values[name] = value?.DeepClone();

    /// <summary>A value as the text that comparisons use: numbers in decimal, also those in hexadecimal.</summary>
    public static string TextOf(JsonNode? value)
    {
        string text = value switch
        {
            null => "null",
            JsonValue scalar when scalar.GetValueKind() == JsonValueKind.String => scalar.GetValue<string>(),
            _ => value.ToJsonString(),
        };
        return text.StartsWith("0x", StringComparison.Ordinal)
            && ulong.TryParse(text.AsSpan(2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ulong number)
            ? number.ToString(CultureInfo.InvariantCulture)
            : text;
    }

    /// <summary>A copy in which names have become their values.</summary>
    /// <exception cref="FormatException">A name has no value yet.</exception>
    public JsonNode? Resolve(JsonNode? node) => Replace(node, static name => throw new FormatException($"${name} has no value yet."));

    /// <summary>A copy in which names that have a value have become it; the others get theirs from a comparison.</summary>
    public JsonNode? ResolveKnown(JsonNode? node) => Replace(node, static name => $"${name}");

    /// <summary>
    /// Why a value is not what is expected; null if it is. Expected is a value, a range of numbers (<c>min</c>, <c>max</c>), one of several
    /// (<c>in</c>), a text without another one (<c>lacks</c>), or an object whose fields are expected.
    /// </summary>
    public string? Mismatch(string what, JsonNode? expected, JsonNode? actual)
    {
        switch (expected)
        {
            case JsonObject range when range.ContainsKey("min") || range.ContainsKey("max"):
                return !decimal.TryParse(TextOf(actual), CultureInfo.InvariantCulture, out decimal number)
                    ? $"{what} is '{Short(TextOf(actual))}', not a number"
                    : number >= Bound(range["min"], decimal.MinValue) && number <= Bound(range["max"], decimal.MaxValue)
                        ? null
                        : $"{what} is {number}, not in {range.ToJsonString()}";
            case JsonObject { Count: 1 } one when one["in"] is JsonArray several:
                return several.Any(value => TextOf(value) == TextOf(actual))
                    ? null
                    : $"{what} is '{Short(TextOf(actual))}', not in {several.ToJsonString()}";
            case JsonObject { Count: 1 } one when one["lacks"] is { } part:
                return TextOf(actual).Contains(TextOf(part), StringComparison.Ordinal)
                    ? $"{what} is '{Short(TextOf(actual))}', which must not contain '{TextOf(part)}'"
                    : null;
            case JsonObject fields when actual is JsonObject found:
                return fields.Select(field => Mismatch($"{what}.{field.Key}", field.Value, found[field.Key]))
                    .FirstOrDefault(static problem => problem is not null);
            case JsonArray items when actual is JsonArray found && items.Count == found.Count:
                return items.Zip(found, (one, other) => Mismatch(what, one, other)).FirstOrDefault(static problem => problem is not null);
            case JsonValue value when NameOf(value) is { } name:
                if (actual is null)
                {
                    return $"{what} is absent";
                }

                if (!_values.ContainsKey(name))
                {
                    Set(name, actual);
                }

                return MismatchOfText(what, TextOf(_values[name]), TextOf(actual));
            default:
                return MismatchOfText(what, TextOf(expected), TextOf(actual));
        }
    }

    private JsonNode? Replace(JsonNode? node, Func<string, JsonNode> otherwise) => node switch
    {
        JsonObject fields => new JsonObject(fields.Select(field => KeyValuePair.Create(field.Key, Replace(field.Value, otherwise)))),
        JsonArray items => new JsonArray([.. items.Select(item => Replace(item, otherwise))]),
        JsonValue value when NameOf(value) is { } name =>
            _values.TryGetValue(name, out JsonNode? found) ? found?.DeepClone() : otherwise(name),
        _ => node?.DeepClone(),
    };

    private static decimal Bound(JsonNode? bound, decimal none) =>
        bound is null ? none : decimal.Parse(TextOf(bound), CultureInfo.InvariantCulture);

    private static string? MismatchOfText(string what, string expected, string actual) => expected == actual
        ? null
        : $"{what} is '{Short(actual)}', not '{Short(expected)}'";

    private static string Short(string text) => text.Length <= 100 ? text : $"{text[..100]}... ({text.Length} characters)";

    private static string? NameOf(JsonValue value) =>
        value.GetValueKind() == JsonValueKind.String && value.GetValue<string>() is ['$', .. var name] ? name : null;
}
