using FastPort.Comparisons.Hostile;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// A hostile hour: every kind of attacker at once, while 100 good clients do 10,000 requests a second. What the server did not keep fails
/// the run; how much slower the good clients are is a target.
/// </summary>
internal sealed class HostileScenario : IScenario
{
    private const string Attacked = "good clients, attacked";
    private const string Burned = "good clients, CPU burned";

    // What the other attackers, good clients and the program itself need beside the idle ones.
    private const int OtherDescriptors = 4000;
    private const int IdleConnectionsAsked = 20_000;
    private const int QuickIdleConnections = 10_000;

    public string Name => "hostile";

    public string Description =>
        "A hostile hour: every kind of attacker at once against the shipped server, while 100 good clients do 10,000 requests/s.";

    public async Task<ScenarioReport> RunAsync(ScenarioContext context, CancellationToken cancellation)
    {
        var notes = new List<string>();
        var failures = new List<string>();
        HostileFigures? figures = null;
        int limit = ProcessWatch.DescriptorLimit();
        int idle = Math.Min(context.Options.Quick ? QuickIdleConnections : IdleConnectionsAsked, limit - OtherDescriptors);
        try
        {
            using NetworkPair? networks = await OpenNetworksAsync(context, notes, cancellation);
            if (idle < IdleConnectionsAsked)
            {
                notes.Add(FormattableString.Invariant(
                    $"{idle:N0} idle connections instead of {IdleConnectionsAsked:N0}: ") + (context.Options.Quick ? "a quick run"
                    : FormattableString.Invariant($"a process may have {limit:N0} descriptors here")));
            }

            using HostileServers servers = await HostileServers.StartAsync(
                context, networks, idle, HostileRun.LimitSeconds(context), cancellation);
            try
            {
                figures = await new HostileRun(context, networks, servers).MeasureAsync(cancellation);
                notes.AddRange(HostileVerdict.Notes(figures));
                failures.AddRange(HostileVerdict.Failures(figures, servers.Server.HasEnded || servers.Simulation.HasEnded));
            }
            catch (ComparisonException exception) when (servers.Server.HasEnded || servers.Simulation.HasEnded)
            {
                failures.Add($"a server has ended: {servers.Server.Errors()} {servers.Simulation.Errors()}; {exception.Message}");
            }
        }
        catch (ComparisonException exception)
        {
            failures.Add(exception.Message);
        }

        return Report(context, figures, notes, failures);
    }

    private static async Task<NetworkPair?> OpenNetworksAsync(ScenarioContext context, List<string> notes, CancellationToken cancellation)
    {
        try
        {
            return await NetworkPair.OpenAsync(
                context.Bench, cancellation, [.. Enumerable.Range(HostileAddresses.First, HostileAddresses.Count + 1)]);
        }
        catch (ComparisonException exception)
        {
            notes.Add($"loopback, and no packets with forged sources: {exception.Message}");
            return null;
        }
    }

    private ScenarioReport Report(ScenarioContext context, HostileFigures? figures, List<string> notes, List<string> failures)
    {
        ContestantReport[] contestants = figures is null ? [] :
        [
            Contestant(Attacked, figures.Attacked, figures.AttackedCpu),
            Contestant(Burned, figures.Burned, figures.BurnedCpu),
        ];
        return new ScenarioReport
        {
            Name = Name,
            Description = Description,
            Method = FormattableString.Invariant(
                $"(Two networks made for it instead, unless a note says otherwise.) {HostileRun.AttackSeconds(context):0} s of attack. ")
                + "The servers have core 0; good clients, attackers and what burns CPU "
                + "have core 1, the last two at nice 10. CPU is burned as much as the attackers took, by a process that connects nowhere, "
                + "after the attack, as it is known then. The good clients are FastPort.Client's open loop: a latency counts from when the "
                + "request was due. Two more keep account of relays and publications over TLS, and one comes anew twice a second. "
                + FormattableString.Invariant($"Budgets: {HostileVerdict.ServerBudgetMegabytes:N0} MB resident for the server, ")
                + FormattableString.Invariant($"{HostileVerdict.SimulationBudgetMegabytes:N0} for the OPC UA simulation; back within ")
                + FormattableString.Invariant($"{HostileRun.RecoveryLimit(context):0} s."),
            Columns = [],
            Workloads =
            [
                new WorkloadReport
                {
                    Title = "all attacks at once",
                    Contestants = contestants,
                    Ratios =
                    [
                        .. RatioReport.Create(
                            new RatioQuestion(Metric.RoundTripP99, Attacked, Burned, Target.AtMost(2)), contestants, hasOneClient: false),
                    ],
                    Notes = notes,
                    Failures = failures,
                },
            ],
            Tables = figures is null ? [] : HostileTables.Of(figures),
        };
    }

    private static ContestantReport Contestant(string name, GoodLoad load, CpuShares cpu)
    {
        IReadOnlyDictionary<string, double> run = load.Figures(cpu).Values;
        return new ContestantReport
        {
            Name = name,
            Figures = run.ToDictionary(static value => value.Key, static value => Spread.Of([value.Value]), StringComparer.Ordinal),
            Runs = [run],
        };
    }
}
