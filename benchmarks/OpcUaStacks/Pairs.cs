using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace OpcUaStacks;

/// <summary>
/// Runs both stacks in turn, each run in a process of its own, with the server on core 0 and the client on core 1. Prints the medians, and
/// the median of the ratios of each pair.
/// </summary>
internal static class Pairs
{
    private static readonly (string Name, Func<SourceFigures, double> Of)[] Figures =
    [
        ("start to first value, ms", static run => run.StartMs),
        ("reads of 100 tags per second", static run => run.ReadsPerSecond),
        ("bytes allocated per read", static run => run.BytesPerRead),
        ("CPU time per change, us", static run => run.MicrosPerChange),
        ("bytes allocated per change", static run => run.BytesPerChange),
    ];

    public static async Task RunAsync(int count)
    {
        using Process server = Start(core: 0, "serve");
        string url = (await server.StandardOutput.ReadLineAsync())!;
        List<(SourceFigures Own, SourceFigures Other)> pairs = [];
        for (int i = 0; i < count; i++)
        {
            pairs.Add((await MeasureAsync("FastPort", url), await MeasureAsync("OpcFoundation", url)));
        }

        await server.StandardInput.WriteLineAsync();
        await server.WaitForExitAsync();
        foreach ((string name, Func<SourceFigures, double> of) in Figures)
        {
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{name,-30} {Median(pairs.Select(pair => of(pair.Own))),12:N2} {Median(pairs.Select(pair => of(pair.Other))),12:N2} "
                + $"{Median(pairs.Select(pair => of(pair.Other) / of(pair.Own))),8:N2}"));
        }
    }

    private static double Median(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        return (sorted[(sorted.Length - 1) / 2] + sorted[sorted.Length / 2]) / 2;
    }

    private static async Task<SourceFigures> MeasureAsync(string stack, string url)
    {
        using Process run = Start(core: 1, "run", stack, url);
        string text = await run.StandardOutput.ReadToEndAsync();
        await run.WaitForExitAsync();
        return JsonSerializer.Deserialize<SourceFigures>(text)!;
    }

    private static Process Start(int core, params string[] args) => Process.Start(
        new ProcessStartInfo("taskset", ["-c", $"{core}", Environment.ProcessPath!, .. args])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!;
}
