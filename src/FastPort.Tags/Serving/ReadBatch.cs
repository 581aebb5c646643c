using System.Diagnostics;

namespace FastPort.Tags.Serving;

/// <summary>Tags that are read from their source with one call, for all waiting requests.</summary>
internal sealed class ReadBatch
{
    // The waiters answer their requests on the thread of the source, which saves a thread switch: it is the server's own code and short.
    private readonly TaskCompletionSource _done = new();

    /// <summary>
    /// The activity of the first requester, null for none: it is the parent of the source's. The others have a link to it.
    /// </summary>
    public Activity? Cause { get; } = Activity.Current;

    public List<int> Keys { get; } = [];

    public List<ServedTag> Tags { get; } = [];

    /// <summary>When it was sent; the values are not older.</summary>
    public long SentAt { get; set; }

    /// <summary>The samples have been kept, or the read has failed.</summary>
    public Task Done => _done.Task;

    public void Complete() => _done.SetResult();
}
