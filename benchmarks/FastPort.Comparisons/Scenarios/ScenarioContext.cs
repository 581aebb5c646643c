using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>What a scenario works with.</summary>
/// <param name="Options">The command line.</param>
/// <param name="Bench">Cores, temporary folder, processes.</param>
/// <param name="Native">The programs in C.</param>
/// <param name="Candidates">The servers.</param>
/// <param name="Progress">Takes a line for each step.</param>
internal sealed record ScenarioContext(
    ComparisonOptions Options, Workbench Bench, NativePrograms Native, CandidateCatalog Candidates, Action<string> Progress)
{
    /// <summary>What an earlier run of the same long method has measured.</summary>
    public required KeptResults Kept { get; init; }
}
