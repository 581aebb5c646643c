using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Scenarios;
using Spectre.Console;

namespace FastPort.Comparisons;

/// <summary>Runs scenarios from the tools they need to the reports they end in.</summary>
internal static class ComparisonRun
{
    /// <summary>Runs the scenarios.</summary>
    /// <returns>
    /// An <see cref="ExitCode"/>; a target that was missed is no failure, a wrong reply or a server that did not start is.
    /// </returns>
    public static async Task<int> RunAsync(IReadOnlyList<IScenario> scenarios, ComparisonOptions options, CancellationToken cancellation)
    {
        try
        {
            CpuPinning pinning = CpuPinning.Detect();
            using var bench = new Workbench(ProgramLocator.Create(), pinning);
            if (options.MissingIsError && pinning.Note is { } unpinned)
            {
                await Console.Error.WriteLineAsync(unpinned);
                return ExitCode.Failed;
            }

            return await RunAsync(scenarios, options, bench, cancellation);
        }
        catch (ComparisonException exception)
        {
            await Console.Error.WriteLineAsync(exception.Message);
            return ExitCode.Failed;
        }
        catch (OperationCanceledException) when (cancellation.IsCancellationRequested)
        {
            await Console.Error.WriteLineAsync(
                "Cancelled; every server has been ended. Of several scenarios --json has those that had ended.");
            return ExitCode.Failed;
        }
    }

    private static async Task<int> RunAsync(
        IReadOnlyList<IScenario> scenarios, ComparisonOptions options, Workbench bench, CancellationToken cancellation)
    {
        IAnsiConsole console = AnsiConsole.Console;
        if (Console.IsOutputRedirected)
        {
            // A file or a pipe has no width to wrap at.
            console.Profile.Width = 400;
        }

        MachineInfo machine = MachineInfo.Read() with { Peers = await PeerVersions.ReadAsync(bench, cancellation) };
        DateTimeOffset date = TimeProvider.System.GetUtcNow();
        if (bench.Pinning.Note is { } note)
        {
            console.WriteLine(note);
        }

        NativePrograms native = await NativePrograms.BuildAsync(bench, cancellation);
        var frame = new ComparisonReport
        {
            Date = date,
            Command = $"dotnet run -c Release --project benchmarks/FastPort.Comparisons -- {options.CommandLine}",
            Commit = await CommitReader.ReadAsync(bench, cancellation),
            IsPartial = options.Only.Count > 0,
            IsQuick = options.Quick,
            Machine = machine,
            Settings = new RunSettings(
                options.Seconds, options.Repetitions, options.WarmupSeconds, bench.Pinning.ServerCore, bench.Pinning.ClientCore),
            Notes = bench.Pinning.Note is null ? [] : [bench.Pinning.Note],
            Scenarios = [],
        };
        var pace = new Pace(TimeProvider.System, scenarios.Count);
        var context = new ScenarioContext(options, bench, native, new CandidateCatalog(bench, native, options), console.WriteLine)
        {
            Pace = pace,
        };
        var reports = new List<ScenarioReport>();
        foreach (IScenario scenario in scenarios)
        {
            reports.Add(await scenario.RunAsync(context, cancellation));
            if (reports.Count < scenarios.Count)
            {
                // What was measured is not lost with what comes after it.
                ReportFile.Write(options.JsonFile, JsonReport.Create(frame with { Scenarios = reports, IsPartial = true }));
            }

            if (pace.EndScenario() is { } text)
            {
                console.WriteLine(text);
            }
        }

        if (options.Only.Count > 0 && reports.All(static report => report.Workloads.Count == 0))
        {
            throw new ComparisonException($"--only: no workload's title contains {string.Join(" or ", options.Only.Select(Quoted))}.");
        }

        ComparisonReport report = frame with { Scenarios = reports };
        ConsoleReport.Write(report, console);
        ReportFile.Write(options.JsonFile, JsonReport.Create(report));
        return reports.SelectMany(scenario => scenario.Workloads).Any(workload => workload.Failures.Count > 0)
            ? ExitCode.Failed
            : ExitCode.Good;
    }

    private static string Quoted(string text) => $"'{text}'";
}
