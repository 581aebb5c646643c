using System.Text.Json.Nodes;
using FastPort.Tags;

namespace FastPort.Conformance.Adapter;

/// <summary>A subscription to tags whose changes are read one by one.</summary>
internal sealed class WatchOfCase(Task<TagSubscription> subscribing)
{
    private IAsyncEnumerator<TagChange>? _changes;
    private Task<JsonObject?> _reading = Task.FromResult<JsonObject?>(null);

    /// <summary>The next change, after those that were asked for before; null at the end.</summary>
    public Task<JsonObject?> ReadAsync()
    {
        _reading = ReadAfterAsync(_reading);
        return _reading;
    }

    public async Task EndAsync() => await (await subscribing).DisposeAsync();

    private async Task<JsonObject?> ReadAfterAsync(Task before)
    {
        await before.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _changes ??= (await subscribing).GetAsyncEnumerator();
        if (!await _changes.MoveNextAsync())
        {
            return null;
        }

        JsonObject change = TagJson.Of(_changes.Current.Sample);
        change["name"] = _changes.Current.Name;
        return change;
    }
}
