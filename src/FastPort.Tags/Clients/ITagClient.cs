using FastPort.Clients;

namespace FastPort.Tags;

/// <summary>
/// The calls and events of a <see cref="TagClient"/>, for classes that get their client injected, so that a test can substitute it. A
/// substitute implements the members that its test uses; a call that is not implemented throws <see cref="NotSupportedException"/>.
/// </summary>
public interface ITagClient
{
    /// <inheritdoc cref="TagClient.Connected"/>
    event Action? Connected
    {
        add { }
        remove { }
    }

    /// <inheritdoc cref="TagClient.Disconnected"/>
    event Action<CloseReason>? Disconnected
    {
        add { }
        remove { }
    }

    /// <inheritdoc cref="TagClient.IsConnected"/>
    bool IsConnected => false;

    /// <inheritdoc cref="TagClient.ResolveAsync(IEnumerable{string}, CancellationToken)"/>
    ValueTask<TagList> ResolveAsync(IEnumerable<string> names, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(ITagClient));

    /// <inheritdoc cref="TagClient.ReadAsync(TagList, TagSamples, TimeSpan, TimeSpan, CancellationToken)"/>
    ValueTask ReadAsync(
        TagList tags,
        TagSamples samples,
        TimeSpan maxAge = default,
        TimeSpan timeout = default,
        CancellationToken cancellationToken = default) => throw Substitute.Lacks(nameof(ITagClient));

    /// <inheritdoc cref="TagClient.ReadAsync(TagList, TimeSpan, TimeSpan, CancellationToken)"/>
    async ValueTask<TagSamples> ReadAsync(
        TagList tags, TimeSpan maxAge = default, TimeSpan timeout = default, CancellationToken cancellationToken = default)
    {
        var samples = new TagSamples();
        await ReadAsync(tags, samples, maxAge, timeout, cancellationToken).ConfigureAwait(false);
        return samples;
    }

    /// <inheritdoc cref="TagClient.ReadAsync(string, TimeSpan, TimeSpan, CancellationToken)"/>
    ValueTask<TagSample> ReadAsync(
        string name, TimeSpan maxAge = default, TimeSpan timeout = default, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(ITagClient));

    /// <inheritdoc cref="TagClient.WriteAsync(TagList, TagSamples, TimeSpan, CancellationToken)"/>
    ValueTask<TagStatus[]> WriteAsync(
        TagList tags, TagSamples values, TimeSpan timeout = default, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(ITagClient));

    /// <inheritdoc cref="TagClient.WriteAsync(string, TagValue, TimeSpan, CancellationToken)"/>
    ValueTask<TagStatus> WriteAsync(
        string name, TagValue value, TimeSpan timeout = default, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(ITagClient));

    /// <inheritdoc cref="TagClient.SubscribeAsync(TagList, TagSubscriptionOptions?, CancellationToken)"/>
    ValueTask<ITagSubscription> SubscribeAsync(
        TagList tags, TagSubscriptionOptions? options = null, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(ITagClient));

    /// <inheritdoc cref="TagClient.PublishAsync"/>
    ValueTask<ITagPublication> PublishAsync(
        ITagSource source, TagPublicationOptions? options = null, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(ITagClient));

    /// <inheritdoc cref="TagClient.BrowseAsync"/>
    IAsyncEnumerable<TagBrowseNode> BrowseAsync(string path = "", CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(ITagClient));

    /// <inheritdoc cref="TagClient.CallAsync"/>
    ValueTask<IReadOnlyList<TagValue>> CallAsync(
        string method, IReadOnlyList<TagValue> inputs, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(ITagClient));
}
