using System.Globalization;
using System.Text.Json;
using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// What strangers can do to others: eight connections echo while a peer (benchmarks/FastPortPeer) attacks FastPort.Server in one way after
/// the other. An echo that takes longer than the limit fails, unless the machine is so busy that echoes take long without an attack, too.
/// </summary>
internal sealed class AttackScenario : IScenario
{
    private const double LimitMilliseconds = 100;
    private const double QuietMilliseconds = LimitMilliseconds / 2;
    private const double QuickSeconds = 1;

    private static readonly TimeSpan AttackLimit = TimeSpan.FromSeconds(60);

    public string Name => "attack";

    public string Description => "What strangers can do: the longest echo of eight other connections while the server is attacked.";

    public async Task<ScenarioReport> RunAsync(ScenarioContext context, CancellationToken cancellation)
    {
        var rows = new List<IReadOnlyList<string>>();
        var notes = new List<string>();
        var failures = new List<string>();
        try
        {
            await MeasureAsync(context, rows, notes, failures, cancellation);
        }
        catch (ComparisonException exception)
        {
            failures.Add(exception.Message);
        }

        return new ScenarioReport
        {
            Name = Name,
            Description = Description,
            Method = string.Create(
                CultureInfo.InvariantCulture,
                $"One server for all attacks, each {Seconds(context)} s. Echoes are sent one at a time a connection. " +
                $"An echo of more than {LimitMilliseconds} ms fails, unless one took {QuietMilliseconds} ms without an attack."),
            Columns = [],
            Workloads =
            [
                new WorkloadReport
                {
                    Title = "one attack after the other", Contestants = [], Ratios = [], Notes = notes, Failures = failures,
                },
            ],
            Tables = [new ReportTable(["attack", "verdict", "longest echo ms", "before ms", "echoes/s", "what is done"], rows)],
        };
    }

    private static async Task MeasureAsync(
        ScenarioContext context,
        List<IReadOnlyList<string>> rows,
        List<string> notes,
        List<string> failures,
        CancellationToken cancellation)
    {
        Candidate candidate = context.Candidates.FastPort;
        string assembly = context.Bench.Programs.Find("benchmarks", "FastPortPeer");
        if ((candidate.Missing() ?? ProgramLocator.MissingAssembly("FastPort's peer", assembly)) is { } missing)
        {
            throw new ComparisonException(missing);
        }

        using ServerProcess server = await ServerProcess.StartAsync(candidate, context.Bench, cancellation);
        string seconds = Invariant.Text(Seconds(context));
        string[] command = [ProgramLocator.DotNetHost, assembly, "attack", "--endpoint", server.Endpoint, "--seconds", seconds];
        using var attacker = Conversation.Start(
            "the attacker", context.Bench.Pinning.On(context.Bench.Pinning.Client, command), context.Bench);
        await foreach (string line in attacker.HearAllAsync(cancellation))
        {
            JsonElement said = JsonDocument.Parse(line).RootElement;
            string name = said.GetProperty("name").GetString() ?? "";
            double longest = said.GetProperty("longest_ms").GetDouble();
            double quiet = said.GetProperty("quiet_ms").GetDouble();
            bool held = longest > LimitMilliseconds, busy = quiet > QuietMilliseconds;
            rows.Add(
            [
                name, !held ? "kept" : busy ? "unknown" : "MISSED", Text(longest, "N1"), Text(quiet, "N1"),
                Text(said.GetProperty("echoes_per_s").GetDouble(), "N0"), said.GetProperty("description").GetString() ?? "",
            ]);
            context.Progress($"attack: {name}: the longest echo took {Text(longest, "N1")} ms");
            if (held)
            {
                (busy ? notes : failures).Add(
                    $"{name}: an echo took {Text(longest, "N1")} ms; the limit is {LimitMilliseconds} ms. " +
                    $"Without an attack it was {Text(quiet, "N1")} ms");
            }
        }

        int exit = await attacker.EndAsync(AttackLimit, cancellation);
        if (exit != 0)
        {
            throw new ComparisonException($"the attacker ended with exit code {exit}; it said: {attacker.Errors()}");
        }
    }

    private static double Seconds(ScenarioContext context) => context.Options.Quick ? QuickSeconds : context.Options.Seconds;

    private static string Text(double value, string format) => value.ToString(format, CultureInfo.InvariantCulture);
}
