using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Reports;

/// <summary>Asks git which commit is being measured.</summary>
internal static class CommitReader
{
    public static async Task<string> ReadAsync(Workbench bench, CancellationToken cancellation)
    {
        if (ProgramLocator.FindTool("git") is not { } git)
        {
            return "unknown";
        }

        string? commit = await RunAsync([git, "rev-parse", "--short=12", "HEAD"], bench, cancellation);
        string? changes = await RunAsync([git, "status", "--porcelain", "--untracked-files=no"], bench, cancellation);
        return commit is null ? "unknown" : commit + (string.IsNullOrEmpty(changes) ? "" : "+changes");
    }

    private static async Task<string?> RunAsync(string[] command, Workbench bench, CancellationToken cancellation)
    {
        using ChildProcess process = bench.Children.Start(command, bench.Programs.Root);
        await process.WaitForExitAsync(cancellation);
        return process.ExitCode == 0 ? process.Output().Trim() : null;
    }
}
