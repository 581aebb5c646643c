namespace FastPort.Tags;

/// <summary>A <see cref="TagPublication"/> of an <see cref="ITagClient"/>.</summary>
public interface ITagPublication : IAsyncDisposable
{
    /// <inheritdoc cref="TagPublication.Names"/>
    IReadOnlyList<string> Names { get; }

    /// <inheritdoc cref="TagPublication.Statuses"/>
    IReadOnlyList<TagStatus> Statuses { get; }
}
