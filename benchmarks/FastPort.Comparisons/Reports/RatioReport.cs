using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Reports;

/// <summary>Subject divided by reference, taken two ways.</summary>
internal sealed record RatioReport
{
    public required string Metric { get; init; }

    public required string Subject { get; init; }

    public required string Reference { get; init; }

    /// <summary>
    /// The ratios of runs that followed each other. Its median is what a target is held against: a disturbance that lasts longer than a run falls on
    /// both sides of a pair.
    /// </summary>
    public required Spread Pairwise { get; init; }

    /// <summary>The ratio of both candidates' medians.</summary>
    public required double OfMedians { get; init; }

    public Target? Target { get; init; }

    /// <summary>Whether the target is reached; null where there is none.</summary>
    public bool? Reached => Target?.IsReachedBy(Pairwise.Median);

    public static RatioReport Create(
        RatioQuestion question,
        (Candidate Candidate, List<LoadResult> Results) subject,
        (Candidate Candidate, List<LoadResult> Results) reference)
    {
        Func<LoadResult, double> read = question.Metric.Read;
        IEnumerable<double> pairs = subject.Results.Zip(reference.Results, (a, b) => read(a) / read(b));
        return new RatioReport
        {
            Metric = question.Metric.Title,
            Subject = subject.Candidate.Name,
            Reference = reference.Candidate.Name,
            Pairwise = Spread.Of(pairs),
            OfMedians = Spread.Of(subject.Results.Select(read)).Median / Spread.Of(reference.Results.Select(read)).Median,
            Target = question.Target,
        };
    }
}
