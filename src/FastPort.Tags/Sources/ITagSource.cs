namespace FastPort.Tags.Sources;

/// <summary>
/// Where tags live: an OPC UA server, another protocol's devices, a table in memory. <see cref="Serving.TagServer"/> serves one or more of
/// them. The server calls its members from any thread, several at a time; reads and writes on its loops, so they must not block. Failures
/// that can be expected are statuses, not exceptions; an exception is logged and counts as <see cref="TagStatus.BadInternalError"/>. Tags
/// are numbers of the source's own choice, from 0, which mean the same tag as long as the source lives. Reads and writes of several
/// requests may be one call: <c>Activity.Current</c> is that of the first then, and the others' have a link to it.
/// </summary>
public interface ITagSource : IAsyncDisposable
{
    /// <summary>Raised when <see cref="IsConnected"/> has changed. The handler does not block.</summary>
    event Action? ConnectionChanged;

    /// <summary>Name for logs and metrics.</summary>
    string Name { get; }

    /// <summary>
    /// Whether the devices can be reached. If not, the server answers reads and writes with <see cref="TagStatus.BadNoCommunication"/>
    /// without a call.
    /// </summary>
    bool IsConnected { get; }

    /// <summary>Looks up names.</summary>
    /// <param name="names">The names.</param>
    /// <param name="tags">Receives a tag for each name, in order; null for one that the source does not have.</param>
    /// <param name="cancellationToken">The server no longer waits.</param>
    ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken);

    /// <summary>Reads tags from their devices.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="samples">Receives a row for each tag, in order.</param>
    /// <param name="cancellationToken">The server no longer waits.</param>
    /// <returns>Good, or why there are no rows at all.</returns>
    ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken);

    /// <summary>Writes tags. The server has at most one write of a tag, with its parts, under way.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="values">A row for each tag, of which the value is written.</param>
    /// <param name="statuses">Receives a status for each tag, in order.</param>
    /// <param name="cancellationToken">The server no longer waits.</param>
    /// <returns>
    /// Good, or why none was written; <see cref="TagStatus.BadTimeout"/> if that is not known. The statuses do not count then.
    /// </returns>
    ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken);

    /// <summary>Opens a feed of changes, without tags at first.</summary>
    /// <param name="interval">How often changes are wanted.</param>
    /// <param name="listener">Receives them.</param>
    /// <param name="cancellationToken">The server no longer waits.</param>
    /// <exception cref="TagException">There is no feed; the exception says why.</exception>
    ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken);

    /// <summary>Lists what lies below a path.</summary>
    /// <param name="path">The path; empty for the root.</param>
    /// <param name="nodes">Receives the nodes, all of them: the server divides them into replies.</param>
    /// <param name="cancellationToken">The server no longer waits.</param>
    /// <returns>Good, or why there is no list.</returns>
    ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken);

    /// <summary>Calls a method.</summary>
    /// <param name="method">Its name.</param>
    /// <param name="inputs">A row for each input.</param>
    /// <param name="outputs">Receives a row for each output.</param>
    /// <param name="cancellationToken">The server no longer waits.</param>
    /// <returns>What the method returned, or <see cref="TagStatus.BadMethodInvalid"/> if there is none of this name.</returns>
    ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken);
}
