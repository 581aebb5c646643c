using System.Text.Json;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>Reads the dashboard's events as a browser does.</summary>
internal sealed class EventStream : IDisposable
{
    private readonly HttpResponseMessage _answer;
    private readonly StreamReader _reader;

    private EventStream(HttpResponseMessage answer, Stream stream)
    {
        _answer = answer;
        _reader = new StreamReader(stream);
    }

    public static async Task<EventStream> OpenAsync(HttpClient http, string? cookie = null)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, "/events");
        if (cookie is not null)
        {
            request.Headers.Add("Cookie", cookie);
        }

        HttpResponseMessage answer = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        answer.EnsureSuccessStatusCode();
        return new EventStream(answer, await answer.Content.ReadAsStreamAsync());
    }

    /// <summary>The next event; null at the end of the stream.</summary>
    public async Task<(string Name, JsonElement Data)?> ReadAsync()
    {
        string name = string.Empty;
        while (await _reader.ReadLineAsync(Patience.Token) is { } line)
        {
            if (line.StartsWith("event: ", StringComparison.Ordinal))
            {
                name = line["event: ".Length..];
            }
            else if (line.StartsWith("data: ", StringComparison.Ordinal))
            {
                return (name, JsonDocument.Parse(line["data: ".Length..]).RootElement);
            }
        }

        return null;
    }

    /// <summary>Reads until figures fit.</summary>
    public async Task<JsonElement> ReadFiguresAsync(Predicate<JsonElement>? condition = null)
    {
        while (await ReadAsync() is { } next)
        {
            if (next.Name == "figures" && (condition is null || condition(next.Data)))
            {
                return next.Data;
            }
        }

        throw new EndOfStreamException("The stream ended before the figures came.");
    }

    public void Dispose()
    {
        _reader.Dispose();
        _answer.Dispose();
    }
}
