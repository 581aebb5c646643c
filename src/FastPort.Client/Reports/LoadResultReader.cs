using System.Text.Json;
using System.Text.Json.Serialization;
using FastPort.Programs;

namespace FastPort.Client.Reports;

/// <summary>Reads a result from JSON; unknown fields are skipped, because later versions may add fields.</summary>
internal static class LoadResultReader
{
    private static readonly JsonSerializerOptions Options = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        RespectNullableAnnotations = true,
        RespectRequiredConstructorParameters = true,
    };

    /// <summary>Reads the contents of a file.</summary>
    /// <exception cref="InvalidResultException">The file cannot be read; the message has the file and the reason.</exception>
    public static async Task<byte[]> ReadFileAsync(string path)
    {
        try
        {
            return await File.ReadAllBytesAsync(path).ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException or NotSupportedException)
        {
            throw new InvalidResultException($"'{path}' cannot be read: {e.Message}", e);
        }
    }

    /// <summary>Reads the contents of a file.</summary>
    /// <exception cref="InvalidResultException">They are not a result of a load run; the message has the file and the reason.</exception>
    public static LoadResult Parse(string path, byte[] contents)
    {
        try
        {
            return Parse(contents);
        }
        catch (JsonException e)
        {
            // Where the text is JSON, but not that of a result, the message names a type of this program.
            string why = e.InnerException is JsonException || e.Path is null
                ? e.Message
                : $"the JSON at {e.Path}, line {(e.LineNumber ?? 0) + 1}, is not that of a result.";
            throw new InvalidResultException($"'{path}' is not a result of a load run (--json): {why}", e);
        }
    }

    /// <summary>Reads JSON text.</summary>
    /// <exception cref="JsonException">The text is not a result.</exception>
    public static LoadResult Parse(ReadOnlySpan<byte> json)
    {
        Document document = JsonSerializer.Deserialize<Document>(json, Options) ?? throw new JsonException("the file holds null.");
        if (document.Schema is < 1 or > LoadResult.CurrentSchema)
        {
            throw new JsonException($"its schema is {document.Schema}; this program reads 1 to {LoadResult.CurrentSchema}.");
        }

        return new LoadResult
        {
            Mode = document.Mode,
            Server = document.Server,
            Connections = document.Connections,
            InFlight = document.InFlight,
            PayloadBytes = document.PayloadBytes,
            Rate = document.Rate,
            DurationSeconds = document.DurationSeconds,
            Messages = document.Messages,
            Errors = document.Errors,
            MessagesPerSecond = document.MessagesPerSecond,
            BytesPerSecond = document.BytesPerSecond,
            RoundTrip = document.RoundTrip,
            ServerTime = document.ServerTime,
            Network = document.Network,
            Environment = document.Environment,
            Transport = document.Transport,
            WarmUpSeconds = document.WarmUpSeconds,
            Loops = document.Loops,
            SpinMicroseconds = document.SpinMicroseconds,
            PinLoops = document.PinLoops,
            MissedSends = document.MissedSends,
            Reconnects = document.Reconnects ?? 0,
            Interruptions = document.Interruptions,
            InterruptedSeconds = document.InterruptedSeconds,
        };
    }

    private sealed record Document(
        [property: JsonRequired] int Schema,
        [property: JsonRequired] string Mode,
        [property: JsonRequired] string Server,
        [property: JsonRequired] int Connections,
        [property: JsonRequired] int InFlight,
        [property: JsonRequired] int PayloadBytes,
        [property: JsonRequired, JsonPropertyName("duration_s")] double DurationSeconds,
        [property: JsonRequired] long Messages,
        [property: JsonRequired] long Errors,
        [property: JsonRequired, JsonPropertyName("messages_per_s")] double MessagesPerSecond,
        [property: JsonRequired, JsonPropertyName("bytes_per_s")] double BytesPerSecond,
        [property: JsonRequired] LoadEnvironment Environment,
        double? Rate = null,
        [property: JsonPropertyName("rtt_us")] LatencyFigures? RoundTrip = null,
        [property: JsonPropertyName("server_us")] LatencyFigures? ServerTime = null,
        [property: JsonPropertyName("network_us")] LatencyFigures? Network = null,
        string? Transport = null,
        [property: JsonPropertyName("warmup_s")] double? WarmUpSeconds = null,
        int? Loops = null,
        [property: JsonPropertyName("spin_us")] int? SpinMicroseconds = null,
        bool? PinLoops = null,
        long? MissedSends = null,
        long? Reconnects = null,
        long? Interruptions = null,
        [property: JsonPropertyName("interrupted_s")] double? InterruptedSeconds = null);
}

/// <summary>A given file is not a result of a load run.</summary>
internal sealed class InvalidResultException(string message, Exception inner) : ProgramFailedException(
    message, Programs.ExitCode.Usage, inner);
