using System.Diagnostics;

namespace FastPort.Comparisons.Tests.Support;

/// <summary>The built program as a child process.</summary>
internal static class ComparisonsProgram
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    /// <summary>Runs the program to its end.</summary>
    /// <param name="arguments">The command line.</param>
    /// <param name="environment">Variables to set, or with null to take away; CI is away unless it is set here.</param>
    public static async Task<ProgramResult> RunAsync(string[] arguments, params (string Name, string? Value)[] environment)
    {
        string host = Environment.ProcessPath is { } path && Path.GetFileNameWithoutExtension(path) == "dotnet" ? path : "dotnet";
        var start = new ProcessStartInfo(host, [Path.Combine(AppContext.BaseDirectory, "FastPort.Comparisons.dll"), .. arguments])
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach ((string name, string? value) in environment.Prepend(("CI", null)))
        {
            start.Environment[name] = value;
        }

        using Process process = Process.Start(start)!;
        using var patience = new CancellationTokenSource(Patience);
        try
        {
            Task<string> errors = process.StandardError.ReadToEndAsync(patience.Token);
            string output = await process.StandardOutput.ReadToEndAsync(patience.Token);
            await process.WaitForExitAsync(patience.Token);
            return new ProgramResult(process.ExitCode, output, await errors);
        }
        catch (OperationCanceledException exception)
        {
            process.Kill(entireProcessTree: true);
            throw new TimeoutException($"'{string.Join(' ', arguments)}' did not end within {Patience.TotalSeconds:0} s.", exception);
        }
    }
}

/// <summary>How the program ended and what it wrote.</summary>
internal sealed record ProgramResult(int ExitCode, string Output, string Errors);
