namespace FastPort.Conformance;

/// <summary>Results as lines of the Test Anything Protocol, and their count.</summary>
internal sealed class Tap(TextWriter output)
{
    private int _number;

    public int Passed { get; private set; }

    public int Failed { get; private set; }

    public int Skipped { get; private set; }

    /// <summary>The first lines of a run.</summary>
    public void Begin(int count)
    {
        output.WriteLine("TAP version 13");
        output.WriteLine($"1..{count}");
    }

    public void Add(string transport, CaseResult result, bool withTrace)
    {
        _number++;
        string name = $"{_number} - {transport}: {result.Case.Name}";
        switch (result.Outcome)
        {
            case Outcome.Passed:
                Passed++;
                output.WriteLine($"ok {name}");
                break;
            case Outcome.Skipped:
                Skipped++;
                output.WriteLine($"ok {name} # SKIP {result.Reason}");
                break;
            default:
                Failed++;
                output.WriteLine($"not ok {name}");
                foreach (string line in Describe(result))
                {
                    output.WriteLine($"# {line}");
                }

                break;
        }

        if (withTrace && result.Outcome == Outcome.Passed)
        {
            foreach (string line in result.Trace)
            {
                output.WriteLine($"#   {line}");
            }
        }
    }

    public void End() => output.WriteLine($"# {Passed} passed, {Failed} failed, {Skipped} skipped");

    /// <summary>A case that has failed: what it shows, why it failed, and all that happened.</summary>
    public static IEnumerable<string> Describe(CaseResult result) =>
    [
        result.Case.Shows,
        $"See docs/{result.Case.Section}.",
        result.Reason,
        .. result.Trace.Select(static line => $"  {line}"),
    ];
}
