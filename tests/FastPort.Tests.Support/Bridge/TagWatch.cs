using System.Collections.Concurrent;
using FastPort.Tags;

namespace FastPort.Tests.Support;

/// <summary>Reads a subscription all the time, and keeps the last sample of each tag.</summary>
internal sealed class TagWatch : IAsyncDisposable
{
    private readonly ConcurrentDictionary<string, TagSample> _last = new(StringComparer.Ordinal);
    private readonly TagSubscription _subscription;
    private readonly Task _reading;

    private TagWatch(TagSubscription subscription)
    {
        _subscription = subscription;
        _reading = ReadAsync();
    }

    /// <summary>For each tag whether the bridge reports it.</summary>
    public IReadOnlyList<TagStatus> Statuses => _subscription.Statuses;

    public static Task<TagWatch> StartAsync(TagClient client, params string[] names) =>
        StartAsync(client, TimeSpan.FromMilliseconds(50), names);

    /// <summary>With another interval the bridge asks the OPC UA server for another subscription.</summary>
    public static async Task<TagWatch> StartAsync(TagClient client, TimeSpan interval, params string[] names) =>
        new(await client.SubscribeAsync(await client.ResolveAsync(names), new() { Interval = interval }));

    /// <summary>Waits until a tag's last sample is such.</summary>
    public Task UntilAsync(string name, TagStatus status, TagValue? value = null) => Patience.UntilAsync(
        () => _last.TryGetValue(name, out TagSample last) && last.Status == status && (value is not { } wanted || last.Value == wanted),
        $"{name} is told to be {status} {value}");

    public async ValueTask DisposeAsync()
    {
        await _subscription.DisposeAsync();
        await _reading;
    }

    private async Task ReadAsync()
    {
        await foreach (TagChange change in _subscription)
        {
            _last[change.Name] = change.Sample;
        }
    }
}
