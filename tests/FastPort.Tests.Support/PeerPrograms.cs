namespace FastPort.Tests.Support;

/// <summary>The peers' programs on this machine, and whether tests may go without them.</summary>
internal static class PeerPrograms
{
    // Debian has servers where only root's path leads.
    private static readonly string[] Folders =
    [
        .. (Environment.GetEnvironmentVariable("PATH") ?? string.Empty).Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries),
        "/usr/sbin",
    ];

    /// <summary>The program's path; null where there is none.</summary>
    public static string? Find(string program) =>
        Folders.Select(folder => Path.Combine(folder, program)).FirstOrDefault(File.Exists);

    /// <summary>Why tests are to be skipped; null where they run, as they always do in the gate (CI=true), be it to fail.</summary>
    /// <param name="problem">What is missing and how to get it; null where nothing is.</param>
    public static string? SkipReason(string? problem) =>
        string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase) ? null : problem;
}
