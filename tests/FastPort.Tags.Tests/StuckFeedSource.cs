namespace FastPort.Tags.Tests;

/// <summary>A tag in memory whose feed opens when the test says so.</summary>
internal sealed class StuckFeedSource : ITagSource, IDisposable
{
    private readonly MemoryTagSource _memory = new();
    private readonly TaskCompletionSource _asked = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _release = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public StuckFeedSource() => _memory.Add("1", 1);

    public event Action? ConnectionChanged
    {
        add { }
        remove { }
    }

    public string Name => "stuck";

    public bool IsConnected => true;

    /// <summary>Ends when the feed was asked for.</summary>
    public Task Asked => _asked.Task.WaitAsync(Loopback.Soon);

    public void Release() => _release.TrySetResult();

    public ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken) =>
        _memory.ResolveAsync(names, tags, cancellationToken);

    public ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken) =>
        _memory.ReadAsync(tags, samples, cancellationToken);

    public ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken) =>
        _memory.WriteAsync(tags, values, statuses, cancellationToken);

    public async ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken)
    {
        _asked.TrySetResult();
        await _release.Task;
        return await _memory.OpenFeedAsync(interval, listener, cancellationToken);
    }

    public ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken) =>
        _memory.BrowseAsync(path, nodes, cancellationToken);

    public ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken) =>
        _memory.CallAsync(method, inputs, outputs, cancellationToken);

    public ValueTask DisposeAsync() => _memory.DisposeAsync();

    public void Dispose() => Release();
}
