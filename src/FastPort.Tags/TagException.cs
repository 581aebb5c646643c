namespace FastPort.Tags;

/// <summary>An operation on tags has failed as a whole.</summary>
/// <param name="status">Why.</param>
/// <param name="message">A sentence about it.</param>
public sealed class TagException(TagStatus status, string message) : Exception(message)
{
    /// <summary>Why.</summary>
    public TagStatus Status { get; } = status;
}
