using FastPort.Conformance.Cases;

namespace FastPort.Conformance;

/// <summary>How a case has ended.</summary>
internal enum Outcome
{
    Passed,
    Failed,
    Skipped,
}

/// <summary>The result of a case.</summary>
/// <param name="Case">The case.</param>
/// <param name="Outcome">How it has ended.</param>
/// <param name="Reason">Why it has failed or was skipped; empty otherwise.</param>
/// <param name="Trace">What happened, a line each.</param>
internal sealed record CaseResult(ConformanceCase Case, Outcome Outcome, string Reason, IReadOnlyList<string> Trace);
