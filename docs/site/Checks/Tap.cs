namespace FastPort.Site.Checks;

/// <summary>Prints results as lines of the Test Anything Protocol.</summary>
internal sealed class Tap
{
    // Enough to see what is wrong.
    private const int MaxProblems = 20;

    public bool HasFailed { get; private set; }

    /// <summary>Prints one result, which is "ok" without problems.</summary>
    /// <param name="what">What was checked.</param>
    /// <param name="problems">What is wrong.</param>
    public void Report(string what, IReadOnlyCollection<string> problems)
    {
        HasFailed |= problems.Count != 0;
        Console.WriteLine($"{(problems.Count == 0 ? "ok" : "not ok")} - {what}");
        foreach (string problem in problems.Take(MaxProblems).SelectMany(static one => one.Split('\n')))
        {
            Console.WriteLine($"# {problem}");
        }

        if (problems.Count > MaxProblems)
        {
            Console.WriteLine($"# and {problems.Count - MaxProblems} more");
        }
    }
}
