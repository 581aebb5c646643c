using System.Reflection;
using System.Runtime;
using System.Runtime.InteropServices;

namespace FastPort.Client.Reports;

/// <summary>The environment of a run.</summary>
internal sealed record LoadEnvironment(string Os, int CpuCount, string Runtime, string Gc, string Commit)
{
    private const string Unknown = "unknown";

    /// <summary>This process's environment.</summary>
    public static LoadEnvironment Current { get; } = new(
        RuntimeInformation.OSDescription,
        Environment.ProcessorCount,
        RuntimeInformation.FrameworkDescription,
        (GCSettings.IsServerGC ? "server" : "workstation")
            + (GCSettings.LatencyMode == GCLatencyMode.Batch ? string.Empty : ", concurrent"),
        CommitOf(typeof(LoadEnvironment).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion));

    /// <summary>The commit in an informational version such as <c>1.2.3+abcdef</c>.</summary>
    public static string CommitOf(string? informationalVersion)
    {
        int plus = informationalVersion?.IndexOf('+', StringComparison.Ordinal) ?? -1;
        return plus >= 0 && plus + 1 < informationalVersion!.Length ? informationalVersion[(plus + 1)..] : Unknown;
    }
}
