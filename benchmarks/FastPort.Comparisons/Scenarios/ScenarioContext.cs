using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;

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
    /// <summary>How far the run is.</summary>
    public required Pace Pace { get; init; }

    /// <summary>Says how far the run is when a part of the present scenario has ended.</summary>
    /// <param name="done">How many parts have ended.</param>
    /// <param name="parts">How many there are.</param>
    public void EndPart(int done, int parts)
    {
        if (done < parts && Pace.EndPart(done, parts) is { } text)
        {
            Progress(text);
        }
    }
}
