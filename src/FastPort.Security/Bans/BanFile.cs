using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace FastPort.Security.Bans;

/// <summary>
/// The text of a ban file, one JSON object per line: <c>{"subject":"10.0.0.7","until":"2026-11-26T10:00:00Z","reason":"guessed
/// passwords"}</c>. Empty lines are ignored.
/// </summary>
internal static partial class BanFile
{
    /// <summary>Size of a file in bytes; a larger one is an error.</summary>
    public const int MaxBytes = 16 * 1024 * 1024;

    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Reads a file.</summary>
    /// <param name="utf8">The text.</param>
    /// <param name="problems">Receives one sentence for each line that is wrong.</param>
    /// <returns>Null if there is an error.</returns>
    public static IReadOnlyList<Ban>? Read(byte[] utf8, ICollection<string> problems)
    {
        int before = problems.Count;
        string text;
        try
        {
            text = Utf8.GetString(utf8);
        }
        catch (DecoderFallbackException)
        {
            problems.Add("It is not UTF-8.");
            return null;
        }

        List<Ban> bans = [];
        int number = 0;
        foreach (string line in text.TrimStart('\uFEFF').Split('\n'))
        {
            number++;
            if (string.IsNullOrWhiteSpace(line))
            {
                continue;
            }

            try
            {
                Line read = JsonSerializer.Deserialize(line, LineContext.Default.Line)
                    ?? throw new JsonException("null is not an object.");
                bans.Add(new Ban(read.Subject, read.Until, read.Reason));
            }
            catch (Exception e) when (e is JsonException or ArgumentException)
            {
                problems.Add($"Line {number}: {e.Message}");
            }
        }

        return problems.Count == before ? bans : null;
    }

    /// <summary>The text of bans, ordered by the time they end.</summary>
    public static byte[] Write(IEnumerable<Ban> bans) => Encoding.UTF8.GetBytes(string.Concat(
        bans.OrderBy(static ban => ban.Until).Select(static ban =>
            JsonSerializer.Serialize(new Line(ban.Subject, ban.Until.ToUniversalTime(), ban.Reason), LineContext.Default.Line) + "\n")));

    internal sealed record Line(string Subject, DateTimeOffset Until, string Reason = "");

    [JsonSourceGenerationOptions(
        PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
        UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
        RespectNullableAnnotations = true,
        RespectRequiredConstructorParameters = true)]
    [JsonSerializable(typeof(Line))]
    internal sealed partial class LineContext : JsonSerializerContext;
}
