namespace FastPort.Tags;

/// <summary>
/// A <see cref="TagSubscription"/> of an <see cref="ITagClient"/>. A substitute implements the enumeration of the changes and
/// <see cref="IAsyncDisposable.DisposeAsync"/>; other members that it does not implement throw <see cref="NotSupportedException"/>.
/// </summary>
public interface ITagSubscription : IAsyncEnumerable<TagChange>, IAsyncDisposable
{
    /// <inheritdoc cref="TagSubscription.Tags"/>
    TagList Tags => throw new NotSupportedException();

    /// <inheritdoc cref="TagSubscription.Options"/>
    TagSubscriptionOptions Options => throw new NotSupportedException();

    /// <inheritdoc cref="TagSubscription.Interval"/>
    TimeSpan Interval => throw new NotSupportedException();

    /// <inheritdoc cref="TagSubscription.Statuses"/>
    IReadOnlyList<TagStatus> Statuses => throw new NotSupportedException();

    /// <inheritdoc cref="TagSubscription.ReadUpdatesAsync"/>
    IAsyncEnumerable<TagUpdate> ReadUpdatesAsync(CancellationToken cancellationToken = default) => throw new NotSupportedException();
}
