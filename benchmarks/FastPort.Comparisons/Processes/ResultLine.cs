using System.Text.Json;

namespace FastPort.Comparisons.Processes;

/// <summary>The line of JSON in which a program of a run says what it has measured.</summary>
internal static class ResultLine
{
    private static readonly JsonSerializerOptions Format = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        RespectRequiredConstructorParameters = true,
    };

    /// <summary>Reads it.</summary>
    /// <param name="json">What was printed.</param>
    /// <param name="who">Who printed it, for the message.</param>
    /// <exception cref="ComparisonException">It is no such result.</exception>
    public static T Read<T>(string json, string who)
        where T : class
    {
        try
        {
            return JsonSerializer.Deserialize<T>(json, Format) ?? throw new JsonException("null");
        }
        catch (JsonException exception)
        {
            throw new ComparisonException($"{who} printed no result but: {json}", exception);
        }
    }
}
