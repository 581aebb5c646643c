using FastPort.Clients;

namespace FastPort.Tags;

/// <summary>
/// A <see cref="TagSubscription"/> of an <see cref="ITagClient"/>. A substitute implements the enumeration of the changes and
/// <see cref="IAsyncDisposable.DisposeAsync"/>; other members that it does not implement throw <see cref="NotSupportedException"/>.
/// </summary>
public interface ITagSubscription : IAsyncEnumerable<TagChange>, IAsyncDisposable
{
    /// <inheritdoc cref="TagSubscription.Tags"/>
    TagList Tags => throw Substitute.Lacks(nameof(ITagSubscription));

    /// <inheritdoc cref="TagSubscription.Options"/>
    TagSubscriptionOptions Options => throw Substitute.Lacks(nameof(ITagSubscription));

    /// <inheritdoc cref="TagSubscription.Interval"/>
    TimeSpan Interval => throw Substitute.Lacks(nameof(ITagSubscription));

    /// <inheritdoc cref="TagSubscription.Statuses"/>
    IReadOnlyList<TagStatus> Statuses => throw Substitute.Lacks(nameof(ITagSubscription));

    /// <inheritdoc cref="TagSubscription.ReadUpdatesAsync"/>
    IAsyncEnumerable<TagUpdate> ReadUpdatesAsync(CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(ITagSubscription));
}
