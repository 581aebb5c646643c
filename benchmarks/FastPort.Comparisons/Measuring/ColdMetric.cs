using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Measuring;

/// <summary>The figures of a process that was not warmed before its load.</summary>
internal static class ColdMetric
{
    private const int FewestSeconds = 3;

    // Of the seconds of a run, one in so many at its end are those that it is steady in.
    private const int SteadyPart = 5;

    public static readonly Metric First = new("first_second_share", "share in the 1st second", "N2") { HasRange = true };

    public static readonly Metric Second = new("second_second_share", "share in the 2nd second", "N2") { HasRange = true };

    public static readonly Metric Steady = new("steady_per_s", "messages/s when steady", "N0") { HasRange = true };

    public static readonly IReadOnlyList<Metric> All = [Steady, First, Second];

    /// <summary>The figures of a run whose load began with the process cold.</summary>
    /// <exception cref="ComparisonException">The run was too short.</exception>
    public static Figures Of(LoadResult run)
    {
        if (run.BySecond is not { Count: >= FewestSeconds } seconds)
        {
            throw new ComparisonException($"a run must take {FewestSeconds} s or more for the rate at its end to be compared with");
        }

        double steady = seconds.Skip(seconds.Count - Math.Max(1, seconds.Count / SteadyPart)).Average();
        Figures figures = Figures.Of(run);
        figures[Steady] = steady;
        figures[First] = seconds[0] / steady;
        figures[Second] = seconds[1] / steady;
        return figures;
    }
}
