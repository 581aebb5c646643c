using System.Globalization;
using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Reports;

/// <summary>Subject divided by reference, taken two ways; or a figure of the subject alone that has a limit.</summary>
internal sealed record RatioReport
{
    public required string Metric { get; init; }

    public required string Subject { get; init; }

    /// <summary>Who is divided by; empty where a figure is held against a limit.</summary>
    public required string Reference { get; init; }

    /// <summary>
    /// The ratios of the two runs of each repetition. Its median is what a target is held against: a disturbance that lasts longer than a
    /// repetition falls on both sides of a pair. Null where the two were not measured in turns: then that of the medians decides.
    /// </summary>
    public required Spread? Pairwise { get; init; }

    /// <summary>The ratio of both medians.</summary>
    public required double OfMedians { get; init; }

    public Target? Target { get; init; }

    /// <summary>Whether the target is reached; null where there is none.</summary>
    public bool? Reached { get; init; }

    /// <summary>
    /// Whether the ratio of both medians lies on the other side of the target: then it is reached by one way of taking the ratio and missed
    /// by the other. It is told from what is reported, so reports say it that were written before anybody asked.
    /// </summary>
    public bool IsDisputed() => Target is { } target && Reached is { } reached && target.IsReachedBy(OfMedians) != reached;

    /// <summary>
    /// Answers a question; with nothing where one of the two is not there. Where the one client of all had no more to give while its server
    /// had, the question about the rate is answered by the servers' CPU time per message, and that answer is held against the target.
    /// </summary>
    /// <param name="question">What is asked.</param>
    /// <param name="contestants">Those who were measured.</param>
    /// <param name="hasOneClient">Whether one load client drove all.</param>
    /// <param name="isPaired">Whether runs alternated between them.</param>
    public static IEnumerable<RatioReport> Create(
        RatioQuestion question, IReadOnlyList<ContestantReport> contestants, bool hasOneClient, bool isPaired = true)
    {
        ContestantReport? subject = contestants.FirstOrDefault(contestant => contestant.Name == question.Subject);
        ContestantReport? reference = contestants.FirstOrDefault(contestant => contestant.Name == question.Reference);
        if (subject is null || reference is null || !subject.Figures.ContainsKey(question.Metric.Key)
            || !reference.Figures.ContainsKey(question.Metric.Key))
        {
            yield break;
        }

        string key = question.Metric.Key;
        bool clientBound = hasOneClient && question.Metric == Measuring.Metric.Throughput
            && (subject.IsClientBound() || reference.IsClientBound());
        yield return Of(question.Metric.Title, subject, reference, run => run[key], clientBound ? null : question.Target, isPaired);
        if (clientBound)
        {
            string cpu = Measuring.Metric.ServerCpuPerMessage.Key;
            yield return Of(
                "messages per s of server CPU (the client had no more to give)", subject, reference, run => 1 / run[cpu], question.Target,
                isPaired);
        }
    }

    /// <summary>Holds a figure of one contestant against a limit, in each of its runs; with nothing where it is not there.</summary>
    public static IEnumerable<RatioReport> Limit(
        Measuring.Metric metric, Target limit, string subject, IReadOnlyList<ContestantReport> contestants)
    {
        if (contestants.FirstOrDefault(contestant => contestant.Name == subject) is { } found
            && found.Figures.TryGetValue(metric.Key, out Spread? spread))
        {
            yield return new RatioReport
            {
                Metric = metric.Title,
                Subject = subject,
                Reference = "",
                Pairwise = spread,
                OfMedians = spread.Median,
                Target = limit,
                Reached = limit.IsReachedBy(limit.Bound == TargetBound.AtLeast ? spread.Min : spread.Max),
            };
        }
    }

    /// <summary>Divides a figure by what it should reach at least.</summary>
    public static RatioReport ToTarget(Measuring.Metric metric, double atLeast, ContestantReport subject)
    {
        Spread figure = subject.Figures[metric.Key];
        var share = new Spread(figure.Median / atLeast, figure.Min / atLeast, figure.Max / atLeast);
        var target = Target.AtLeast(1);
        return new RatioReport
        {
            Metric = metric.Title,
            Subject = subject.Name,
            Reference = atLeast.ToString(metric.Format, CultureInfo.InvariantCulture),
            Pairwise = share,
            OfMedians = share.Median,
            Target = target,
            Reached = target.IsReachedBy(share.Median),
        };
    }

    private static RatioReport Of(
        string metric, ContestantReport subject, ContestantReport reference, Func<IReadOnlyDictionary<string, double>, double> read,
        Target? target, bool isPaired)
    {
        Spread? pairwise = isPaired ? Spread.Of(subject.Runs.Zip(reference.Runs, (a, b) => read(a) / read(b))) : null;
        double ofMedians = Spread.Of(subject.Runs.Select(read)).Median / Spread.Of(reference.Runs.Select(read)).Median;
        return new RatioReport
        {
            Metric = metric,
            Subject = subject.Name,
            Reference = reference.Name,
            Pairwise = pairwise,
            OfMedians = ofMedians,
            Target = target,
            Reached = target?.IsReachedBy(pairwise?.Median ?? ofMedians),
        };
    }
}
