using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Tests.Support;

/// <summary>Runs, and reports of them, as if they had been measured.</summary>
internal static class Measured
{
    public static readonly MachineInfo Machine = new()
    {
        Cpu = "A processor @ 2.50GHz",
        CpuCount = 2,
        Hypervisor = "virtual machine",
        MemoryGb = 25.3,
        Os = "Debian <12>",
        Kernel = "6.18",
        Runtime = ".NET 10",
        LoadAverageBefore = 0.41,
    };

    /// <summary>Runs that have measured a single metric.</summary>
    public static Figures[] Runs(Metric metric, params double[] values) => [.. values.Select(value => new Figures { [metric] = value })];

    /// <summary>The report of a contestant whose runs have measured a single metric.</summary>
    public static ContestantReport Contestant(string name, Metric metric, params double[] values) => Contestant(name, Runs(metric, values));

    public static ContestantReport Contestant(string name, params Figures[] runs)
    {
        var measured = new ContestantRuns(new ScriptedContestant(name));
        measured.Runs.AddRange(runs);
        return ContestantReport.Create(measured);
    }

    /// <summary>A workload that asks for one ratio, A to B.</summary>
    public static WorkloadReport Workload(string title, ContestantReport a, ContestantReport b, Metric metric, Target? target)
    {
        ContestantReport[] contestants = [a, b];
        return new WorkloadReport
        {
            Title = title,
            Contestants = contestants,
            Ratios = [.. RatioReport.Create(new RatioQuestion(metric, a.Name, b.Name, target), contestants, hasOneClient: false)],
            Notes = [],
            Failures = [],
        };
    }

    public static ScenarioReport Scenario(string name, params WorkloadReport[] workloads) => new()
    {
        Name = name,
        Description = $"What {name} is.",
        Method = "Loads by hand.",
        Columns = [Metric.Throughput.Key, Metric.RoundTripP50.Key, Metric.ServerPeakRss.Key],
        Workloads = workloads,
    };

    public static ComparisonReport Report(params ScenarioReport[] scenarios) => new()
    {
        Date = new DateTimeOffset(2026, 11, 23, 5, 27, 1, TimeSpan.Zero),
        Command = "dotnet run -- all",
        Commit = "0123456789ab",
        Machine = Machine,
        Settings = new RunSettings(2, 5, 5, 0, 1),
        Notes = [],
        Scenarios = scenarios,
    };
}
