using System.Collections.Concurrent;
using System.Text.Json.Nodes;
using FastPort.Tags;

namespace FastPort.Conformance.Adapter;

/// <summary>The client of a case about tags, with its lists of names and its watches.</summary>
internal sealed class TagsOfCase : IAsyncDisposable
{
    private readonly TagClient _client;
    private readonly ConcurrentDictionary<string, TagList> _lists = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, WatchOfCase> _watches = new(StringComparer.Ordinal);

    private TagsOfCase(TagClient client) => _client = client;

    /// <summary>Connects.</summary>
    /// <param name="command">The connect command.</param>
    /// <param name="connected">Called for each later session.</param>
    /// <param name="disconnected">Called when a session has ended.</param>
    public static async Task<TagsOfCase> ConnectAsync(JsonObject command, Action connected, Action<CloseReason> disconnected)
    {
        TagClient client = await TagClient.ConnectAsync(ClientSettings.Options(command));
        client.Connected += connected;
        client.Disconnected += disconnected;
        return new TagsOfCase(client);
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    public async Task<JsonObject> ReadAsync(JsonObject command, TimeSpan? timeout, CancellationToken cancellationToken)
    {
        TagList tags = await ResolveAsync(command["names"]!.AsArray().Select(static name => (string)name!), cancellationToken);
        TagSamples samples = await _client.ReadAsync(
            tags, ClientSettings.Time(command["maxAge"]) ?? default, timeout ?? default, cancellationToken);
        return new JsonObject
        {
            ["samples"] = new JsonArray([.. Enumerable.Range(0, samples.Count).Select(row => TagJson.Of(samples[row]))]),
        };
    }

    public async Task<JsonObject> WriteAsync(JsonObject command, TimeSpan? timeout, CancellationToken cancellationToken)
    {
        JsonArray values = command["values"]!.AsArray();
        TagList tags = await ResolveAsync(values.Select(static value => (string)value!["name"]!), cancellationToken);
        var samples = new TagSamples();
        foreach (JsonNode? value in values)
        {
            samples.Add(TagJson.ToValue(value!.AsObject()));
        }

        TagStatus[] statuses = await _client.WriteAsync(tags, samples, timeout ?? default, cancellationToken);
        return new JsonObject { ["statuses"] = new JsonArray([.. statuses.Select(static status => (JsonNode)status.Code)]) };
    }

    public void Watch(string id, JsonObject command)
    {
        var options = new TagSubscriptionOptions { Interval = ClientSettings.Time(command["interval"]) ?? default };
        if (command["queueSize"] is { } size)
        {
            options = options with { QueueSize = (int)size };
        }

        _watches[id] = new WatchOfCase(SubscribeAsync());

        async Task<TagSubscription> SubscribeAsync() => await _client.SubscribeAsync(
            await ResolveAsync(command["names"]!.AsArray().Select(static name => (string)name!), CancellationToken.None), options);
    }

    public Task<JsonObject?> ReadWatchAsync(string id) => _watches[id].ReadAsync();

    public Task EndWatchAsync(string id) => _watches[id].EndAsync();

    private async Task<TagList> ResolveAsync(IEnumerable<string> names, CancellationToken cancellationToken)
    {
        string[] all = [.. names];
        string key = string.Join('\n', all);
        return _lists.TryGetValue(key, out TagList? known) ? known
            : _lists[key] = await _client.ResolveAsync(all, cancellationToken);
    }
}
