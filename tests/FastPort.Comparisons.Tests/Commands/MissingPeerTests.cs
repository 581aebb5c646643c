using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Commands;

/// <summary>
/// The program where there is no C compiler, so that nobody has a load client and nothing is started. Of the tools it looks for it finds an
/// empty file that is called taskset, as it would else stop at that.
/// </summary>
public sealed class MissingPeerTests : IDisposable
{
    private const string Workload = "500 connections: ";
    private const string Skipped = "skipped: cc is missing: echo_load cannot be built (Debian: apt install gcc libc6-dev)";

    private readonly TemporaryDirectory _directory = new();

    private string Json => Path.Combine(_directory.Path, "reports", "measured.json");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Is_named_and_skipped_and_the_report_written_reads_back_as_it_was()
    {
        if (await RunAsync(["--json", Json], null) is not { } result)
        {
            return;
        }

        Assert.Equal((0, ""), (result.ExitCode, result.Errors));
        Assert.Contains(Workload + Skipped, result.Output, StringComparison.Ordinal);
        ComparisonReport report = JsonReport.Read(Json);
        Assert.Equal(File.ReadAllText(Json), JsonReport.Create(report));
        Assert.Equal([Workload + Skipped], ReportNotes.Of(Assert.Single(report.Scenarios)));
        Assert.Equal("dotnet run -c Release --project benchmarks/FastPort.Comparisons -- idle --quick", report.Command);
    }

    [Fact]
    public async Task Only_workloads_that_are_named_are_measured_and_the_report_tells_the_command_as_it_can_be_typed()
    {
        if (await RunAsync(["--only", "500 connections", "--json", Json], null) is not { } result)
        {
            return;
        }

        Assert.Equal(0, result.ExitCode);
        ComparisonReport report = JsonReport.Read(Json);
        Assert.EndsWith(" -- idle --quick --only '500 connections'", report.Command, StringComparison.Ordinal);
        Assert.True(report.IsPartial && report.IsQuick);

        ProgramResult? wrong = await RunAsync(["--only", "501", "--only", "502"], null);
        Assert.Equal(1, wrong!.ExitCode);
        Assert.Contains("--only: no workload's title contains '501' or '502'.", wrong.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_command_of_pairs_can_be_typed_again_and_the_table_names_the_other_checkouts_commit()
    {
        string[] arguments = ["pairs", "--quick", "--only", "typed Echo", "--baseline", ProgramLocator.Create().Root, "--json", Json];
        if (await RunProgramAsync(arguments, null) is not { } result)
        {
            return;
        }

        Assert.Equal((0, ""), (result.ExitCode, result.Errors));
        ComparisonReport report = JsonReport.Read(Json);
        Assert.EndsWith(" -- pairs --quick --only 'typed Echo' --baseline ../before", report.Command, StringComparison.Ordinal);

        // There is no git on the path.
        Assert.Equal(
            "speed, now / before (unknown): median of pairs", Assert.Single(Assert.Single(report.Scenarios).Tables).Headers[1]);
    }

    [Fact]
    public async Task A_server_of_ones_own_is_measured_by_its_name_and_its_path_is_not_told()
    {
        string[] arguments = ["peers", "--quick", "--only", "32 x 16", "--json", Json, "--peer"];
        if (await RunProgramAsync([.. arguments, "mine=dotnet /somewhere/mine.dll"], null) is not { } result)
        {
            return;
        }

        Assert.Equal((0, ""), (result.ExitCode, result.Errors));
        Assert.EndsWith(" -- peers --quick --only '32 x 16' --peer mine=...", JsonReport.Read(Json).Command, StringComparison.Ordinal);

        foreach (string wrong in (string[])["mine", "=dotnet mine.dll", "mine= "])
        {
            ProgramResult? refused = await RunProgramAsync([.. arguments, wrong], null);
            Assert.Equal(2, refused!.ExitCode);
            Assert.Contains(
                $"--peer {wrong}: must be a name, '=', and the command that starts the server.", refused.Errors, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData(true, null)]
    [InlineData(false, "true")]
    [InlineData(false, "True")]
    public async Task Is_an_error_where_peers_are_required(bool asked, string? ci)
    {
        if (await RunAsync(asked ? ["--require-peers"] : [], ci) is { } result)
        {
            Assert.Equal(1, result.ExitCode);
            Assert.Contains(Workload + "FAILED: " + Skipped, result.Output, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Networks_that_cannot_be_made_are_no_error_even_so()
    {
        string[] arguments = ["opcspeed", "--quick", "--only", "remote", "--require-peers"];
        if (await RunProgramAsync(arguments, null) is { } result)
        {
            Assert.Equal((0, ""), (result.ExitCode, result.Errors));
            Assert.Contains(
                "remote, 100 items, 4 clients, 16 outstanding: skipped: two networks cannot be made and joined here: ",
                result.Output,
                StringComparison.Ordinal);
        }
    }

    private Task<ProgramResult?> RunAsync(string[] arguments, string? ci) => RunProgramAsync(["idle", "--quick", .. arguments], ci);

    // Null where nothing is pinned to cores and so nobody can be required.
    private async Task<ProgramResult?> RunProgramAsync(string[] arguments, string? ci)
    {
        string tools = Directory.CreateDirectory(Path.Combine(_directory.Path, "tools")).FullName;
        File.WriteAllText(Path.Combine(tools, "taskset"), "");
        return OperatingSystem.IsLinux() && Environment.ProcessorCount > 1
            ? await ComparisonsProgram.RunAsync(arguments, ("PATH", tools), ("CI", ci))
            : null;
    }
}
