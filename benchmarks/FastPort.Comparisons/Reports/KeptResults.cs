namespace FastPort.Comparisons.Reports;

/// <summary>
/// The report file of a long method, written after each candidate, so that the next run with the same file continues behind those that
/// were finished. Without such a method nothing is kept.
/// </summary>
internal sealed class KeptResults
{
    private readonly ComparisonReport? _before;
    private readonly Action<ScenarioReport>? _save;

    private KeptResults(ComparisonReport? before, Action<ScenarioReport>? save) => (_before, _save) = (before, save);

    /// <summary>Reads what is there.</summary>
    /// <param name="options">Whether results are kept, and where.</param>
    /// <param name="frame">A report of this run, without scenarios.</param>
    /// <exception cref="ComparisonException">There is no file named, or what it holds was measured otherwise.</exception>
    public static KeptResults Open(ComparisonOptions options, ComparisonReport frame)
    {
        if (!options.Full)
        {
            return new KeptResults(null, null);
        }

        string file = options.JsonFile
            ?? throw new ComparisonException("--full takes hours: give --json FILE too, where each finished candidate is kept.");
        ComparisonReport? before = File.Exists(file) ? JsonReport.Read(file) : null;
        if (before is not null && (before.Commit != frame.Commit || before.Settings != frame.Settings))
        {
            throw new ComparisonException(
                $"--json: {file} holds results of commit {before.Commit} with {Text(before.Settings)}, and this is commit {frame.Commit} "
                + $"with {Text(frame.Settings)}: give another file.");
        }

        if (before is not null && !before.Machine.IsSameAs(frame.Machine))
        {
            throw new ComparisonException(
                $"--json: {file} holds results of another machine, or of other versions of what is compared: give another file.");
        }

        return new KeptResults(
            before,
            scenario => ReportFile.Write(file, JsonReport.Create(frame with { Scenarios = [WithOthers(before, scenario)] })));
    }

    /// <summary>What was measured of a contestant before; null for nothing.</summary>
    public ContestantReport? Find(string scenario, string workload, string contestant) =>
        _before?.Scenarios.FirstOrDefault(one => one.Name == scenario)
            ?.Workloads.FirstOrDefault(one => one.Title == workload)
            ?.Contestants.FirstOrDefault(one => one.Name == contestant);

    public void Save(ScenarioReport scenario) => _save?.Invoke(scenario);

    // Those whose turn has not come yet in this run, but had in the one before.
    private static ScenarioReport WithOthers(ComparisonReport? before, ScenarioReport scenario) => scenario with
    {
        Workloads =
        [
            .. scenario.Workloads,
            .. before?.Scenarios.FirstOrDefault(one => one.Name == scenario.Name)
                ?.Workloads.Where(one => scenario.Workloads.All(own => own.Title != one.Title)) ?? [],
        ],
    };

    private static string Text(RunSettings settings) => $"{settings.Repetitions} repetitions of {settings.Seconds:0.###} s";
}
