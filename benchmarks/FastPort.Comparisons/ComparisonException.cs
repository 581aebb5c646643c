namespace FastPort.Comparisons;

/// <summary>A comparison that cannot go on; the message is written for whoever runs it.</summary>
internal sealed class ComparisonException : Exception
{
    public ComparisonException()
    {
    }

    public ComparisonException(string message)
        : base(message)
    {
    }

    public ComparisonException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
