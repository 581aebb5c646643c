using System.Text.RegularExpressions;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>The programs with a dashboard, as processes.</summary>
internal static partial class DashboardPrograms
{
    /// <summary>Arguments of both: any port.</summary>
    public static string[] Listen => ["--listen", "tcp://127.0.0.1:0", "--dashboard", "http://127.0.0.1:0"];

    public static ServerProcess StartServer(string[] arguments, params (string Key, string Value)[] environment) =>
        Start("FastPort.Server", arguments, environment);

    /// <summary>The bridge, with its simulated endpoint unless the environment has another.</summary>
    public static ServerProcess StartBridge(params (string Key, string Value)[] environment) =>
        Start("FastPort.OpcBridge", Listen, [("OpcBridge__Listen", "opc.tcp://127.0.0.1:0"), .. environment]);

    /// <summary>The bridge without a dashboard.</summary>
    public static ServerProcess StartBridgeAlone(params (string Key, string Value)[] environment) =>
        Start("FastPort.OpcBridge", ["--listen", "tcp://127.0.0.1:0"], [("OpcBridge__Listen", "opc.tcp://127.0.0.1:0"), .. environment]);

    /// <summary>A program that another one becomes.</summary>
    public static ServerProcess StartBy(
        string[] launcher, string project, string[] arguments, params (string Key, string Value)[] environment) =>
        ServerProcess.StartProgram(launcher, DirectoryOf(project), $"{project}.dll", arguments, environment);

    /// <summary>Where a program's dashboard listens.</summary>
    public static async Task<Uri> DashboardAsync(ServerProcess process)
    {
        await process.PrintedAsync("dashboard on ", 1);
        return new Uri(DashboardLine.Match(process.Output).Groups[1].Value);
    }

    // From its own directory, where its files are.
    private static ServerProcess Start(string project, string[] arguments, (string Key, string Value)[] environment) =>
        ServerProcess.StartProgram(DirectoryOf(project), $"{project}.dll", arguments, environment);

    private static string DirectoryOf(string project) =>
        AppContext.BaseDirectory.Replace("tests/FastPort.Dashboard.Tests", $"src/{project}", StringComparison.Ordinal);

    [GeneratedRegex("dashboard on (http:\\S+)")]
    private static partial Regex DashboardLine { get; }
}
