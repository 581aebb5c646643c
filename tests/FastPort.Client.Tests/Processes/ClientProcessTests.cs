using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using FastPort.Client.Reports;
using FastPort.Client.Tests.Reports;
using FastPort.Hosting;
using Xunit;

namespace FastPort.Client.Tests.Processes;

public sealed class ClientProcessTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("fastport-client-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public async Task Hosts_a_server_reports_and_leaves_files()
    {
        // Long enough for both connections to be in the report also where a core is taken away for a while.
        using var client = new ClientProcess(
            _directory,
            ["load", "--connections", "2", "--duration", "3s", "--warmup", "100ms", "--json", "out.json", "--html", "out.html"],
            ("LatencyStats__OutputDirectory", Path.Combine(_directory, "Figures")), ("LatencyStats__EnableHtmlOutput", "true"));

        Assert.Equal(0, await client.EndAsync());

        string[] expected =
            ["samples", "min", "avg", "P50", "P95", "P99", "max", "round trip", "server", "network", " messages in ", "0 errors",
                ", bound by ", "latencies of the messages that were answered in the measured time"];
        foreach (string text in expected)
        {
            Assert.Contains(text, client.Output, StringComparison.Ordinal);
        }

        Assert.DoesNotContain('\r', client.Output);
        string[] files = [.. Directory.GetFiles(Path.Combine(_directory, "Figures")).OrderBy(Path.GetExtension)];
        Assert.Equal([".csv", ".html", ".json", ".log"], files.Select(Path.GetExtension));
        Assert.Contains(",session,2,2,round_trip,", await File.ReadAllTextAsync(files[0]), StringComparison.Ordinal);
        Assert.Contains("\"scope\": \"session\"", await File.ReadAllTextAsync(files[2]), StringComparison.Ordinal);
        Assert.Contains("network min", await File.ReadAllTextAsync(files[3]), StringComparison.Ordinal);
        Assert.Contains("latencies of a client", await File.ReadAllTextAsync(files[1]), StringComparison.Ordinal);
        Assert.Contains(
            "echo, 2 connections x 16 in flight", await File.ReadAllTextAsync(Path.Combine(_directory, "out.html")),
            StringComparison.Ordinal);
        LoadResult result = LoadResultReader.Parse(await File.ReadAllBytesAsync(Path.Combine(_directory, "out.json")));
        Assert.Equal(2, result.Connections);
        Assert.True(result.Messages > 0);
        Assert.Contains(
            "\"command_line\": \"load --connections 2", await File.ReadAllTextAsync(Path.Combine(_directory, "out.json")),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_load_whose_output_is_full_runs_to_its_end_and_keeps_its_report()
    {
        Assert.SkipUnless(File.Exists("/dev/full"), "There is no /dev/full.");
        const string Command = "exec dotnet \"$0\" load --connections 1 --duration 200ms --warmup 0s --json out.json >/dev/full";
        using Process load = Process.Start(
            new ProcessStartInfo("/bin/sh", ["-c", Command, Path.Combine(AppContext.BaseDirectory, "FastPort.Client.dll")])
            {
                WorkingDirectory = _directory,
                RedirectStandardError = true,
                UseShellExecute = false,
            })!;

        string errors = await load.StandardError.ReadToEndAsync(Patience.Token);
        await load.WaitForExitAsync(Patience.Token);

        Assert.Equal(0, load.ExitCode);
        Assert.StartsWith("Standard output cannot be written: ", errors, StringComparison.Ordinal);
        Assert.Single(errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        LoadResult result = LoadResultReader.Parse(await File.ReadAllBytesAsync(Path.Combine(_directory, "out.json")));
        Assert.True(result.Messages > 0);
    }

    [Fact]
    public async Task Nothing_of_the_warm_up_is_in_the_files_however_many_intervals_it_has()
    {
        using var client = new ClientProcess(
            _directory,
            ["load", "--connections", "1", "--duration", "1500ms", "--warmup", "2500ms", "--json", "out.json"],
            ("LatencyStats__FileWriteIntervalSeconds", "1"), ("LatencyStats__EnableHistogramLog", "true"));

        Assert.Equal(0, await client.EndAsync());

        LoadResult result = LoadResultReader.Parse(await File.ReadAllBytesAsync(Path.Combine(_directory, "out.json")));
        string[] rows = await ReadLinesAsync("*.csv");
        int series = Array.IndexOf(rows[0].Split(','), "series"), count = Array.IndexOf(rows[0].Split(','), "count");
        long[] counts =
        [
            .. rows.Select(static row => row.Split(',')).Where(row => row[series - 1] == "all" && row[series] == "round_trip")
                .Select(row => long.Parse(row[count], CultureInfo.InvariantCulture)),
        ];
        Assert.Equal(result.Messages, counts.Sum());
        Assert.Equal(
            counts.Count(static messages => messages != 0),
            (await ReadLinesAsync("*.hlog")).Count(static line => line.StartsWith("Tag=all/round_trip,", StringComparison.Ordinal)));

        Task<string[]> ReadLinesAsync(string name) =>
            File.ReadAllLinesAsync(Assert.Single(Directory.GetFiles(Path.Combine(_directory, "Stats"), name)));
    }

    [Fact]
    public async Task Two_results_are_compared_on_a_page()
    {
        await File.WriteAllBytesAsync(Path.Combine(_directory, "a.json"), LoadResultWriter.ToUtf8(Results.Before));
        await File.WriteAllBytesAsync(Path.Combine(_directory, "b.json"), LoadResultWriter.ToUtf8(Results.After));
        using var client = new ClientProcess(_directory, ["compare", "a.json", "b.json", "--html", "diff.html"]);

        Assert.Equal(0, await client.EndAsync());
        string page = await File.ReadAllTextAsync(Path.Combine(_directory, "diff.html"));
        Assert.Contains("FastPort comparison", page, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Runs_of_different_settings_are_flagged_above_their_figures_in_the_text_and_on_the_page()
    {
        await File.WriteAllBytesAsync(Path.Combine(_directory, "a.json"), LoadResultWriter.ToUtf8(Results.Before));
        await File.WriteAllBytesAsync(
            Path.Combine(_directory, "b.json"), LoadResultWriter.ToUtf8(Results.Before with { Connections = 64 }));
        using var client = new ClientProcess(_directory, ["compare", "a.json", "b.json", "--html", "diff.html"]);

        Assert.Equal(0, await client.EndAsync());
        Assert.StartsWith(
            "The two runs are not the same test:\n- connections differs: 32 before, 64 after.\n", client.Output, StringComparison.Ordinal);
        Assert.Contains(
            "\"differences\":[\"connections differs: 32 before, 64 after.\"]",
            await File.ReadAllTextAsync(Path.Combine(_directory, "diff.html")), StringComparison.Ordinal);
    }

    // Before the run: none of its lines is printed, and no file is left behind.
    [Theory]
    [InlineData("--json", "load", "--connections", "1", "--html", "good.html")]
    [InlineData("--html", "load", "--connections", "1", "--json", "good.json")]
    [InlineData("--html", "compare", "a.json", "a.json")]
    [InlineData("--markdown", "compare", "a.json", "a.json")]
    public async Task A_file_that_cannot_be_written_is_found_before_the_run(string option, params string[] args)
    {
        await File.WriteAllBytesAsync(Path.Combine(_directory, "a.json"), LoadResultWriter.ToUtf8(Results.Before));
        foreach (string path in (string[])["missing/file", "."])
        {
            using var client = new ClientProcess(_directory, [.. args, option, path]);

            Assert.Equal(2, await client.EndAsync());
            Assert.StartsWith($"{option} is '{path}'", await client.Error, StringComparison.Ordinal);
            Assert.Empty(client.Output);
        }

        Assert.Equal(["a.json"], Directory.GetFiles(_directory).Select(Path.GetFileName));
    }

    [Theory]
    [InlineData("load", "[default: 10s]", "[default: 2s]", "[default: echo]")]
    [InlineData("compare")]
    [InlineData("tags browse")]
    [InlineData("tags read")]
    [InlineData("tags write")]
    [InlineData("tags watch")]
    [InlineData("top")]
    public async Task Help_fits_the_page_shows_defaults_as_they_are_typed_and_ends_with_an_example(string command, params string[] expected)
    {
        using var client = new ClientProcess(_directory, [.. command.Split(' '), "--help"]);

        Assert.Equal(0, await client.EndAsync());
        Assert.All(client.Output.Split('\n'), static line => Assert.InRange(line.TrimEnd().Length, 0, 100));
        Assert.All(expected, text => Assert.Contains(text, client.Output, StringComparison.Ordinal));
        Assert.DoesNotContain("00:00", client.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("[default: ]", client.Output, StringComparison.Ordinal);
        Assert.Matches($@"\nExample:\n  \S+ {command} \S.*\n$", client.Output);
    }

    [Fact]
    public async Task A_result_that_has_too_little_for_a_page_is_compared_and_a_sentence()
    {
        string text = Encoding.UTF8.GetString(LoadResultWriter.ToUtf8(Results.Before))
            .Replace("\"rate\": null,", string.Empty, StringComparison.Ordinal);
        await File.WriteAllTextAsync(Path.Combine(_directory, "a.json"), text);
        using var client = new ClientProcess(_directory, ["compare", "a.json", "a.json", "--html", "diff.html"]);

        Assert.Equal(1, await client.EndAsync());
        Assert.Contains("messages/s", client.Output, StringComparison.Ordinal);
        Assert.Contains("could not be written to 'diff.html'", await client.Error, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", await client.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("missing/token", "load", "--server")]
    [InlineData("missing", "top", "--server")]
    [InlineData(".", "tags", "read", "x", "--server")]
    public async Task A_token_file_that_cannot_be_read_is_exit_code_2(string file, params string[] args)
    {
        using var client = new ClientProcess(_directory, [.. args, "tcp://127.0.0.1:1", "--token-file", file]);

        Assert.Equal(2, await client.EndAsync());
        Assert.Contains(Path.GetFullPath(file, _directory).TrimEnd('/'), await client.Error, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", await client.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(PosixSignal.SIGINT)]
    [InlineData(PosixSignal.SIGTERM)]
    public async Task A_signal_ends_the_run_with_its_report(PosixSignal signal)
    {
        if (OperatingSystem.IsWindows())
        {
            return;
        }

        using var client = new ClientProcess(
            _directory, ["load", "--connections", "2", "--duration", "10m", "--warmup", "0s", "--json", "out.json"]);
        await client.ReadToAsync("echo to ");

        client.Signal(signal);

        Assert.Equal(0, await client.EndAsync());
        Assert.Contains("client latency in us, lifetime", client.Output, StringComparison.Ordinal);
        Assert.Contains("0 errors", client.Output, StringComparison.Ordinal);
        Assert.Equal(3, Directory.GetFiles(Path.Combine(_directory, "Stats")).Length);
        Assert.True(LoadResultReader.Parse(File.ReadAllBytes(Path.Combine(_directory, "out.json"))).DurationSeconds < 600);
    }

    [Fact]
    public async Task A_directory_that_cannot_be_written_costs_one_warning()
    {
        string file = Path.Combine(_directory, "taken");
        await File.WriteAllTextAsync(file, "no directory");
        using var client = new ClientProcess(
            _directory, ["load", "--connections", "1", "--duration", "200ms", "--warmup", "0s"], ("LatencyStats__OutputDirectory", file));

        Assert.Equal(0, await client.EndAsync());

        // Other warnings are of the machine: few descriptors, or a handler whose core was taken away for long.
        Assert.Single(
            client.Output.Split('\n'),
            line => line.Contains(" WRN ", StringComparison.Ordinal) && line.Contains(file, StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_server_that_is_not_there_is_exit_code_1()
    {
        using var client = new ClientProcess(_directory, ["load", "--server", "tcp://127.0.0.1:1"]);

        Assert.Equal(1, await client.EndAsync());
        Assert.Contains("tcp://127.0.0.1:1", await client.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task More_connections_than_descriptors_are_exit_code_2_before_the_first_one_is_made()
    {
        // More than any machine allows, or the run would be made.
        using var client = new ClientProcess(_directory, ["load", "--connections", "100000", "--duration", "1ms", "--warmup", "0s"]);
        if (DescriptorLimit.Read() is not < 200_000)
        {
            return;
        }

        Assert.Equal(2, await client.EndAsync());
        Assert.Contains("ulimit -n 200200", await client.Error, StringComparison.Ordinal);
        Assert.Empty(client.Output);
    }

    [Theory]
    [InlineData("LatencyStats__FileWriteIntervalSeconds", "0", "LatencyStats:FileWriteIntervalSeconds is 0")]
    [InlineData("LatencyStats__Nonsense", "1", "Nonsense")]
    [InlineData("FastPort__MaxConnections", "0", "FastPort:MaxConnections is 0")]
    [InlineData("Serilog__MinimumLevel__Default", "Loudest", "Loudest")]
    public async Task Wrong_configuration_is_exit_code_2(string name, string value, string sentence)
    {
        using var client = new ClientProcess(_directory, ["load"], (name, value));

        Assert.Equal(2, await client.EndAsync());
        Assert.Contains(sentence, await client.Error, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", await client.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Wrong_values_of_several_sections_are_named_together()
    {
        using var client = new ClientProcess(
            _directory,
            ["load"],
            ("LatencyStats__Nonsense", "1"),
            ("FastPort__MaxConnections", "0"),
            ("Serilog__MinimumLevel__Default", "Loudest"));

        Assert.Equal(2, await client.EndAsync());
        string error = await client.Error;
        Assert.Contains("LatencyStats:Nonsense is not a known key", error, StringComparison.Ordinal);
        Assert.Contains("FastPort:MaxConnections is 0; allowed: ", error, StringComparison.Ordinal);
        Assert.Contains("Serilog: ", error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("not json")]
    public async Task A_missing_or_broken_appsettings_json_is_exit_code_2(string? json)
    {
        using var client = ClientProcess.StartWithSettings(_directory, json, ["load"]);

        Assert.Equal(2, await client.EndAsync());
        Assert.Contains("appsettings.json", await client.Error, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", await client.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Compares_two_results()
    {
        string before = Path.Combine(_directory, "before.json");
        string after = Path.Combine(_directory, "after.json");
        await File.WriteAllBytesAsync(before, LoadResultWriter.ToUtf8(Reports.Results.Before));
        await File.WriteAllBytesAsync(after, LoadResultWriter.ToUtf8(Reports.Results.After));
        using var client = new ClientProcess(_directory, ["compare", before, after, "--markdown", "table.md"]);

        Assert.Equal(0, await client.EndAsync());
        Assert.Equal(ComparisonTable.Text(new Comparison(Reports.Results.Before, Reports.Results.After, [])), client.Output);
        Assert.StartsWith("| ", await File.ReadAllTextAsync(Path.Combine(_directory, "table.md")), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Files_that_are_no_results_are_exit_code_2()
    {
        string path = Path.Combine(_directory, "wrong.json");
        await File.WriteAllTextAsync(path, "{}");
        using var client = new ClientProcess(_directory, ["compare", path, path]);

        Assert.Equal(2, await client.EndAsync());
        Assert.Contains("wrong.json", await client.Error, StringComparison.Ordinal);
    }
}
