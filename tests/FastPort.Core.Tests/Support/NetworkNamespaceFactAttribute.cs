using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Core.Tests.Support;

/// <summary>A fact that needs a network namespace of its own, which not every Linux lets an ordinary user have.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class NetworkNamespaceFactAttribute : FactAttribute
{
    private static readonly string? Reason = Try();

    public NetworkNamespaceFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = Reason;

    private static string? Try()
    {
        try
        {
            using Process process = Process.Start(
                new ProcessStartInfo(
                    "unshare", ["--user", "--map-root-user", "--net", "ip", "link", "set", "lo", "up"])
                {
                    RedirectStandardError = true,
                    UseShellExecute = false
                })!;
            process.WaitForExit(Patience.Limit);
            return process is { HasExited: true, ExitCode: 0 } ? null : "This user may not make network namespaces.";
        }
        catch (Win32Exception)
        {
            return "There is no unshare (util-linux).";
        }
    }
}
