namespace FastPort.Tags;

/// <summary>
/// A source of tags: an OPC UA server, another protocol's devices, a table in memory. <see cref="TagServer"/> serves one or more of
/// them. The server calls its members from any thread, several at a time. It calls reads and writes on its loops, so they must not block.
/// Expected failures are statuses, not exceptions; an exception is logged and counts as <see cref="TagStatus.BadInternalError"/>. Tags are
/// numbers that the source chooses, from 0; a number means the same tag for the lifetime of the source. One call may serve reads or writes
/// of several requests: <c>Activity.Current</c> is then that of the first request, and those of the others have a link to it.
/// </summary>
public interface ITagSource : IAsyncDisposable
{
    /// <summary>Raised when <see cref="IsConnected"/> has changed. The handler does not block.</summary>
    event Action? ConnectionChanged;

    /// <summary>Name for logs and metrics.</summary>
    string Name { get; }

    /// <summary>
    /// Whether the devices can be reached. If they cannot, the server answers reads and writes with
    /// <see cref="TagStatus.BadNoCommunication"/> without a call.
    /// </summary>
    bool IsConnected { get; }

    /// <summary>Looks up names.</summary>
    /// <param name="names">The names.</param>
    /// <param name="tags">Receives a tag for each name, in order; null for a name that the source does not have.</param>
    /// <param name="cancellationToken">Canceled when the server no longer waits.</param>
    ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken);

    /// <summary>Reads tags from their devices.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="samples">Receives a row for each tag, in order.</param>
    /// <param name="cancellationToken">Canceled when the server no longer waits.</param>
    /// <returns>Good, or the reason why there are no rows.</returns>
    ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken);

    /// <summary>Writes tags. The server has at most one write of a tag, including its parts, in progress.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="values">A row for each tag; its value is written.</param>
    /// <param name="statuses">Receives a status for each tag, in order.</param>
    /// <param name="cancellationToken">Canceled when the server no longer waits.</param>
    /// <returns>
    /// Good, or the reason why no tag was written; <see cref="TagStatus.BadTimeout"/> if that is unknown. Unless the result is good, the
    /// statuses are ignored.
    /// </returns>
    ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken);

    /// <summary>Opens a feed of changes, without tags at first.</summary>
    /// <param name="interval">The interval of reports.</param>
    /// <param name="listener">Receives them.</param>
    /// <param name="cancellationToken">Canceled when the server no longer waits.</param>
    /// <exception cref="TagException">There is no feed; the exception says why.</exception>
    ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken);

    /// <summary>Lists the nodes below a path.</summary>
    /// <param name="path">The path; empty for the root.</param>
    /// <param name="nodes">Receives all nodes: the server divides them into replies.</param>
    /// <param name="cancellationToken">Canceled when the server no longer waits.</param>
    /// <returns>Good, or the reason why there is no list.</returns>
    ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken);

    /// <summary>Calls a method.</summary>
    /// <param name="method">Its name.</param>
    /// <param name="inputs">A row for each input.</param>
    /// <param name="outputs">Receives a row for each output.</param>
    /// <param name="cancellationToken">Canceled when the server no longer waits.</param>
    /// <returns>The method's status, or <see cref="TagStatus.BadMethodInvalid"/> if there is no method of this name.</returns>
    ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken);
}
