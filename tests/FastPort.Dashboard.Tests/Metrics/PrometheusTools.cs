using System.Diagnostics;
using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>Prometheus and its promtool, if they are on the path.</summary>
internal static class PrometheusTools
{
    /// <summary>What is missing and how to get it; null where nothing is.</summary>
    public static string? Problem { get; } = new[] { "prometheus", "promtool" }.Where(static name => Find(name) is null).ToArray() switch
    {
        [] => null,
        var missing => $"Not on the path: {string.Join(", ", missing)}. On Debian: apt-get install prometheus.",
    };

    /// <summary>Why the tests are to be skipped; null where they run, as they always do in the gate (CI=true), be it to fail.</summary>
    public static string? SkipReason =>
        string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase) ? null : Problem;

    /// <summary>Starts one of the programs.</summary>
    public static Process Start(string program, params string[] arguments)
    {
        Assert.True(Problem is null, Problem);
        return Process.Start(new ProcessStartInfo(Find(program)!, arguments)
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
    }

    /// <summary>Runs <c>promtool check metrics</c>: its exit code, and all it said.</summary>
    public static async Task<(int Exit, string Said)> CheckAsync(string metrics)
    {
        using Process promtool = Start("promtool", "check", "metrics");
        Task<string> output = promtool.StandardOutput.ReadToEndAsync(Patience.Token);
        Task<string> errors = promtool.StandardError.ReadToEndAsync(Patience.Token);
        await promtool.StandardInput.WriteAsync(metrics);
        promtool.StandardInput.Close();
        await promtool.WaitForExitAsync(Patience.Token);
        return (promtool.ExitCode, await output + await errors);
    }

    private static string? Find(string name) => (Environment.GetEnvironmentVariable("PATH") ?? string.Empty)
        .Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
        .Select(directory => Path.Combine(directory, name))
        .FirstOrDefault(File.Exists);
}

/// <summary>A test that needs Prometheus: skipped where it is not installed, but not in the gate.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class PrometheusFactAttribute : FactAttribute
{
    public PrometheusFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = PrometheusTools.SkipReason;
}
