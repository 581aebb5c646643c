using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Jobs;
using Perfolizer.Horology;

namespace FastPort.Benchmarks;

/// <summary>What holds for every benchmark here, whatever job the command line names.</summary>
internal static class BenchmarkSettings
{
    /// <summary>BenchmarkDotNet's defaults with allocations measured and iterations short enough for the whole set to be run often.</summary>
    public static IConfig Create() => ManualConfig.Create(DefaultConfig.Instance)
        .AddDiagnoser(MemoryDiagnoser.Default)

        // A mutator, so that it joins the job of the command line instead of being a second one. The default iteration of 500 ms would take
        // the short job over its five minutes, and nothing here lasts longer than a few milliseconds.
        .AddJob(Job.Default.WithIterationTime(TimeInterval.FromMilliseconds(100)).AsMutator())

        // The generated project builds FastPort.Core again: on a busy machine with two cores that can exceed the default of two minutes.
        .WithBuildTimeout(TimeSpan.FromMinutes(5));
}
