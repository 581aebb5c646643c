using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;

namespace FastPort.Tests.Support;

/// <summary>
/// How programs get network namespaces here: as the root of a user namespace, which needs no rights, or as root where the kernel gives no
/// user namespaces. Tests that need them are skipped in the gate (CI=true) only where it gives neither: a program or a device that is
/// missing fails them there, and skips them elsewhere.
/// </summary>
internal static class NetworkNamespaces
{
    private static readonly string[] AsUser = ["unshare", "--user", "--map-root-user", "--net"];
    private static readonly string[] AsRoot = ["unshare", "--net"];

    private static readonly bool IsGate =
        string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase);

    private static readonly bool HasUsers = Try([.. AsUser, "true"]) == Outcome.Success;

    /// <summary>Why tests that need a network of their own are to be skipped; null where they run.</summary>
    public static string? Problem { get; } = FindProblem();

    /// <summary>The same for tests that join such networks by TUN devices.</summary>
    public static string? TunProblem { get; } = Problem ?? Missing(
        ["ip", "tuntap", "add", "mode", "tun", "name", "probe"], "There is no device /dev/net/tun that this user may open.");

    /// <summary>What a command is preceded by to run in a network of its own, by the process that was started.</summary>
    public static IReadOnlyList<string> Own => HasUsers ? AsUser : AsRoot;

    /// <summary>What a command is preceded by to have the rights of such a process over its network.</summary>
    public static IReadOnlyList<string> RightsOf(int processId) => HasUsers
        ? ["nsenter", "--target", processId.ToString(CultureInfo.InvariantCulture), "--user", "--preserve-credentials"]
        : [];

    /// <summary>What a command is preceded by to run in one more network, over which the same rights hold.</summary>
    public static IReadOnlyList<string> Beside(int processId) => [.. RightsOf(processId), .. AsRoot];

    private static string? FindProblem() => (HasUsers ? Outcome.Success : Try([.. AsRoot, "true"])) switch
    {
        Outcome.Success => Missing(["ip", "link", "set", "lo", "up"], "There is no ip (iproute2)."),
        Outcome.Failure => "This user may not make network namespaces.",
        _ when IsGate && OperatingSystem.IsLinux() => null,
        _ => "There is no unshare (util-linux).",
    };

    private static string? Missing(string[] command, string reason) =>
        IsGate || Try([.. Own, .. command]) == Outcome.Success ? null : reason;

    private static Outcome Try(string[] command)
    {
        try
        {
            using Process process = Process.Start(
                new ProcessStartInfo(command[0], command[1..]) { RedirectStandardError = true, UseShellExecute = false })!;
            return process.WaitForExit(Patience.Limit) && process.ExitCode == 0 ? Outcome.Success : Outcome.Failure;
        }
        catch (Win32Exception)
        {
            return Outcome.NoProgram;
        }
    }

    private enum Outcome
    {
        Success,
        Failure,
        NoProgram,
    }
}
