using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using FastPort.Benchmarks;

// Without arguments: everything, in its short form. Every option of BenchmarkDotNet can be given instead, such as --list flat.
string[] chosen = args.Length == 0 ? ["--filter", "*", "--job", "short"] : args;
Summary[] summaries = [.. BenchmarkSwitcher.FromAssembly(typeof(BenchmarkSettings).Assembly).Run(chosen, BenchmarkSettings.Create(chosen))];

if (summaries.Length == 0)
{
    // Nothing ran: that is right only where nothing was asked to run.
    return Array.Exists(chosen, static argument => argument is "--list" or "--help" or "--version" or "--info") ? 0 : 2;
}

return Array.Exists(
    summaries, static summary => summary.HasCriticalValidationErrors || !summary.Reports.All(static report => report.Success)) ? 1 : 0;
