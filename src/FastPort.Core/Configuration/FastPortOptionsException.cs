namespace FastPort.Configuration;

/// <summary>
/// Options are out of their range or of no known name; the message lists every problem with key, value and what is allowed.
/// </summary>
/// <param name="problems">One sentence per problem.</param>
public sealed class FastPortOptionsException(IReadOnlyList<string> problems)
    : ArgumentException(string.Join(Environment.NewLine, problems))
{
    /// <summary>One sentence per problem.</summary>
    public IReadOnlyList<string> Problems { get; } = problems;
}
