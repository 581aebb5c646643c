using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Measuring;

/// <summary>One load on everybody who takes part.</summary>
/// <param name="Title">Name in the tables.</param>
/// <param name="Contestants">Who takes part, in the order of their turns.</param>
/// <param name="Questions">The ratios to take.</param>
internal sealed record Workload(string Title, IReadOnlyList<IContestant> Contestants, IReadOnlyList<RatioQuestion> Questions)
{
    /// <summary>
    /// Whether one load client drives everybody: then a rate that the client limits says nothing about the server. Defaults to false: each
    /// brings its own client.
    /// </summary>
    public bool HasOneClient { get; init; }

    /// <summary>
    /// Whether each run has new processes. Speed differs between processes of the same program by more than between runs of one process:
    /// memory lies elsewhere, and code was compiled in another order. Defaults to false: processes live through all runs.
    /// </summary>
    public bool HasNewProcesses { get; init; }

    /// <summary>How many questions with a target have no answer, as one of the two is not there.</summary>
    public int NotMeasured(IReadOnlyList<ContestantReport> measured) =>
        Questions.Count(question => question.Target is not null && !RatioReport.Create(question, measured, hasOneClient: false).Any());
}

/// <summary>A ratio to take, subject divided by reference.</summary>
/// <param name="Metric">What is divided.</param>
/// <param name="Subject">Name of the contestant that the ratio is about.</param>
/// <param name="Reference">Name of the contestant it is divided by.</param>
/// <param name="Target">What the ratio should reach, where something is asked of it.</param>
internal sealed record RatioQuestion(Metric Metric, string Subject, string Reference, Target? Target = null);
