using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>One load on a subject and on what it is compared with.</summary>
/// <param name="Shape">The load.</param>
/// <param name="Subject">What the ratios are about.</param>
/// <param name="Reference">What it is divided by.</param>
/// <param name="Questions">The ratios to take.</param>
internal sealed record Workload(LoadShape Shape, Candidate Subject, Candidate Reference, IReadOnlyList<RatioQuestion> Questions);

/// <summary>A ratio to take, subject divided by reference.</summary>
/// <param name="Metric">What is divided.</param>
/// <param name="Target">What the ratio should reach, where something is asked of it.</param>
internal sealed record RatioQuestion(Metric Metric, Target? Target = null);
