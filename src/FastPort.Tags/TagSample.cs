namespace FastPort.Tags;

/// <summary>A value with its status and times.</summary>
/// <param name="Value">The value; null for none.</param>
/// <param name="Status">Whether the value is good. Defaults to good.</param>
/// <param name="SourceTime">When the source had the value, UTC; default if unknown. Defaults to unknown.</param>
/// <param name="ServerTime">When the server last confirmed the value, UTC; default if unknown. Defaults to unknown.</param>
public readonly record struct TagSample(
    TagValue Value, TagStatus Status = default, DateTime SourceTime = default, DateTime ServerTime = default)
{
    /// <summary>A sample without a value.</summary>
    /// <param name="status">Why there is none.</param>
    public static TagSample Bad(TagStatus status) => new(default, status);

    /// <summary>The value, and the status unless it is good.</summary>
    public override string ToString() => Status == TagStatus.Good ? Value.ToString() : $"{Value} [{Status}]".TrimStart();
}
