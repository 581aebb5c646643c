using System.Text.RegularExpressions;

namespace FastPort.Aspire.Tests;

/// <summary>
/// Aspire's orchestrator (dcp) and the processes that it starts, as Linux lists them. A session of it has a folder of its own, which its
/// processes name in their command line or environment.
/// </summary>
internal static partial class Orchestrator
{
    /// <summary>The folders of the sessions that this process has begun.</summary>
    public static IReadOnlyCollection<string> Sessions() =>
        [.. CommandLines().Select(static one => Session().Match(one)).Where(static one =>
            one.Groups[1].Value == $"{Environment.ProcessId}").Select(static one => one.Groups[2].Value).Distinct()];

    /// <summary>The command lines of a session's processes.</summary>
    public static IReadOnlyCollection<string> Processes(string session) =>
        [.. CommandLines().Where(one => one.Contains(session, StringComparison.Ordinal))];

    private static IEnumerable<string> CommandLines()
    {
        foreach (string folder in Directory.EnumerateDirectories("/proc").Where(static one => char.IsAsciiDigit(Path.GetFileName(one)[0])))
        {
            string line;
            try
            {
                line = File.ReadAllText(Path.Combine(folder, "cmdline")).Replace('\0', ' ')
                    + File.ReadAllText(Path.Combine(folder, "environ")).Replace('\0', ' ');
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                // It has ended meanwhile, or is another user's.
                continue;
            }

            yield return line;
        }
    }

    [GeneratedRegex(@"dcp start-apiserver .*--monitor (\d+) .*--kubeconfig (\S+)/kubeconfig")]
    private static partial Regex Session();
}
