using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Jobs;
using Perfolizer.Horology;

namespace FastPort.Benchmarks;

/// <summary>What holds for every benchmark here, whatever job the command line names.</summary>
internal static class BenchmarkSettings
{
    /// <summary>
    /// BenchmarkDotNet's defaults with allocations measured, median and minimum shown (they stay meaningful where other programs run too),
    /// and iterations short enough for the whole set to be run often.
    /// </summary>
    /// <param name="arguments">The command line, which may set its own length of an iteration.</param>
    public static IConfig Create(string[] arguments)
    {
        // A mutator, so that it joins the job of the command line instead of being a second one. The project that BenchmarkDotNet generates
        // builds FastPort again, in a single process: what was analysed when this program was built need not be analysed once more.
        Job everyJob = Job.Default.WithArguments([new MsBuildArgument("/p:RunAnalyzers=false")]);

        // The default iteration of 500 ms would take the short job over its five minutes, and nothing here lasts longer than a few
        // milliseconds. A mutator overrules the command line, so it must not say anything where that does.
        if (!Array.Exists(arguments, static argument => argument.StartsWith("--iterationTime", StringComparison.OrdinalIgnoreCase)))
        {
            everyJob = everyJob.WithIterationTime(TimeInterval.FromMilliseconds(100));
        }

        // On a busy machine with two cores the build can exceed the default timeout of two minutes.
        return ManualConfig.Create(DefaultConfig.Instance)
            .AddDiagnoser(MemoryDiagnoser.Default)
            .AddColumn(StatisticColumn.Median, StatisticColumn.Min)
            .AddJob(everyJob.AsMutator())
            .WithBuildTimeout(TimeSpan.FromMinutes(5));
    }
}
