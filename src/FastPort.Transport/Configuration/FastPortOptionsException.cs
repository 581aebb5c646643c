namespace FastPort;

/// <summary>Options are out of range or have unknown names. The message lists every problem with key, value and allowed values.</summary>
/// <param name="problems">One sentence per problem.</param>
public sealed class FastPortOptionsException(IReadOnlyList<string> problems)
    : ArgumentException(string.Join(Environment.NewLine, problems))
{
    /// <summary>One sentence per problem.</summary>
    public IReadOnlyList<string> Problems { get; } = problems;
}
