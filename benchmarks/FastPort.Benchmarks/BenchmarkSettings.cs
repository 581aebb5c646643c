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
    /// BenchmarkDotNet's defaults with allocations measured, median and minimum shown (they stay meaningful where other programs run too), and
    /// iterations short enough for the whole set to be run often.
    /// </summary>
    /// <param name="arguments">The command line, which may set its own length of an iteration.</param>
    public static IConfig Create(string[] arguments)
    {
        // The generated project builds FastPort.Core again: on a busy machine with two cores that can exceed the default of two minutes.
        ManualConfig config = ManualConfig.Create(DefaultConfig.Instance)
            .AddDiagnoser(MemoryDiagnoser.Default)
            .AddColumn(StatisticColumn.Median, StatisticColumn.Min)
            .WithBuildTimeout(TimeSpan.FromMinutes(5));

        // A mutator, so that it joins the job of the command line instead of being a second one; it would also overrule the command line. The
        // default iteration of 500 ms would take the short job over its five minutes, and nothing here lasts longer than a few milliseconds.
        return Array.Exists(arguments, static argument => argument.StartsWith("--iterationTime", StringComparison.OrdinalIgnoreCase))
            ? config
            : config.AddJob(Job.Default.WithIterationTime(TimeInterval.FromMilliseconds(100)).AsMutator());
    }
}
