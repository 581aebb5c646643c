using FastPort.Tags;

namespace FastPort.Samples.Tests.Snippets;

// docs: source
/// <summary>Two tags of this process. A device that can be lost would raise ConnectionChanged.</summary>
internal sealed class ProcessTagSource : ITagSource
{
    private static readonly string[] Names = ["process/memory", "process/gc"];

    public event Action? ConnectionChanged { add { } remove { } }

    public string Name => "process";

    public bool IsConnected => true;

    public ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken)
    {
        for (int i = 0; i < names.Count; i++)
        {
            int tag = Array.IndexOf(Names, names[i]);
            tags.Span[i] = tag < 0 ? null : new TagInfo(tag, names[i]) { Type = TagType.Int64, Rank = -1 };
        }

        return ValueTask.CompletedTask;
    }

    public ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken)
    {
        foreach (int tag in tags)
        {
            long value = tag == 0 ? Environment.WorkingSet : GC.CollectionCount(0);
            samples.Add(value, sourceTime: DateTime.UtcNow);
        }

        return new(TagStatus.Good);
    }

    public ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken) =>
        new(TagStatus.BadNotWritable);

    public ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken) =>
        new(TagNameTree.Browse(path, Names, [], nodes));

    public ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken) =>
        new(TagStatus.BadMethodInvalid);

    // These values report no changes of their own: they are read again and again.
    public ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken) =>
        new(new PolledTagFeed(this, interval, listener));

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}

// docs: end
