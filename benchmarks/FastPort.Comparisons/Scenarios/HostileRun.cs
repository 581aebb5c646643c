using System.Diagnostics;
using System.Text.Json;
using FastPort.Comparisons.Hostile;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// The phases: the good clients alone, rest, some attackers alone (both are warm-up), the attack, recovery, and the good clients again
/// while as much CPU is burned as the attackers took. That is known only after the attack, so it comes last.
/// </summary>
internal sealed class HostileRun(ScenarioContext context, NetworkPair? networks, HostileServers servers)
{
    private const double DefaultMinutes = 60;
    private const double WarmupSeconds = 2;
    private const double QuickWarmupSeconds = 1;
    private const double AttackWarmupSeconds = 10;
    private const double QuickAttackWarmupSeconds = 4;
    private const double QuickAttackSeconds = 20;
    private const double QuickBurnSeconds = 5;
    private const double LongestBurnSeconds = 60;
    private const double QuickRecoverySeconds = 20;
    private const double RecoverySeconds = 60;

    // Two minutes of looking twice a second: in less the attackers still grow in number.
    private const int FewestSamples = 240;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private readonly HostilePeers _peers = new(context, networks, servers);

    /// <summary>How long the attack lasts.</summary>
    public static double AttackSeconds(ScenarioContext context) =>
        context.Options.Quick ? QuickAttackSeconds : (context.Options.Minutes ?? DefaultMinutes) * 60;

    /// <summary>What the server has to be back after.</summary>
    public static double RecoveryLimit(ScenarioContext context) => context.Options.Quick ? QuickRecoverySeconds : RecoverySeconds;

    /// <summary>Nothing of a run lasts longer.</summary>
    public static double LimitSeconds(ScenarioContext context) => AttackSeconds(context) + 600;

    public async Task<HostileFigures> MeasureAsync(CancellationToken cancellation)
    {
        bool quick = context.Options.Quick;
        double attack = AttackSeconds(context), warmup = quick ? QuickWarmupSeconds : WarmupSeconds;
        using Conversation ledger = _peers.Start(HostileCommands.Ledger);
        await ledger.HearAsync(Limit, cancellation);
        context.Progress("hostile: good clients alone, to warm up");
        await _peers.LoadAsync(warmup, quick ? 2 : 10, static () => Task.CompletedTask, cancellation);
        AtRest before = await RestAsync(ledger, cancellation);

        await WarmUpAsync(quick ? QuickAttackWarmupSeconds : AttackWarmupSeconds, cancellation);
        context.Progress(FormattableString.Invariant($"hostile: {attack:0} s of attack"));
        await using var server = new ProcessWatch(servers.Server.Id);
        await using var simulation = new ProcessWatch(servers.Simulation.Id);
        var attackers = new HostileAttackers(_peers);
        using (attackers)
        {
            await attackers.StartAsync(withIdle: true, cancellation);
            await ledger.SayAsync(LedgerProcess.Begin);
            (GoodLoad attacked, CpuShares attackedCpu) = await _peers.LoadAsync(
                warmup, attack, attackers.BeginAsync, cancellation, attackers);
            await ledger.SayAsync(LedgerProcess.Pause);
            MemoryTrend? serverTrend = Trend(await server.EndAsync()), simulationTrend = Trend(await simulation.EndAsync());
            StatusLine counters = await StatusAsync(ledger, cancellation);
            IReadOnlyList<AttackLine> attacks = await attackers.EndAsync(cancellation);
            long ended = Stopwatch.GetTimestamp();
            context.Progress("hostile: recovery");
            AtRest after = await RecoverAsync(ledger, before, cancellation);
            double recovery = Stopwatch.GetElapsedTime(ended).TotalSeconds;

            double share = attackedCpu.Attackers;
            context.Progress(FormattableString.Invariant($"hostile: good clients while {share:P0} of their core is burned"));
            using Conversation burner = _peers.Start(
                HostileCommands.Burn, "--share", Invariant.Text(share), "--limit", Invariant.Text(servers.Plan.LimitSeconds));
            (GoodLoad burned, CpuShares burnedCpu) = await _peers.LoadAsync(
                warmup, quick ? QuickBurnSeconds : Math.Min(attack, LongestBurnSeconds), static () => Task.CompletedTask, cancellation,
                burner);
            await burner.EndAsync(Limit, cancellation);
            await ledger.EndAsync(Limit, cancellation);
            return new HostileFigures
            {
                Attacked = attacked,
                Burned = burned,
                AttackedCpu = attackedCpu,
                BurnedCpu = burnedCpu,
                Before = before,
                After = after,
                RecoverySeconds = recovery,
                ServerPeakMegabytes = server.PeakMegabytes,
                SimulationPeakMegabytes = simulation.PeakMegabytes,
                ServerTrend = serverTrend,
                SimulationTrend = simulationTrend,
                PeakDescriptors = server.PeakDescriptors,
                Counters = counters,
                Ledger = Read<LedgerLine>(await ledger.HearAsync(Limit, cancellation)),
                Attacks = attacks,
            };
        }
    }

    // What a server does with strangers is code that no good client has had compiled. All attackers but the idle ones, which run no code of
    // their own.
    private async Task WarmUpAsync(double seconds, CancellationToken cancellation)
    {
        context.Progress("hostile: attackers alone, to warm up");
        using var attackers = new HostileAttackers(_peers);
        await attackers.StartAsync(withIdle: false, cancellation);
        await attackers.BeginAsync();
        await Task.Delay(TimeSpan.FromSeconds(seconds), cancellation);
        await attackers.EndAsync(cancellation);
    }

    private static MemoryTrend? Trend(IReadOnlyList<double> megabytes) => megabytes.Count < FewestSamples ? null : new MemoryTrend(
        Spread.Of(megabytes.Skip(megabytes.Count / 4).Take(megabytes.Count / 4)).Median,
        Spread.Of(megabytes.TakeLast(megabytes.Count / 4)).Median);

    private static async Task<StatusLine> StatusAsync(Conversation ledger, CancellationToken cancellation)
    {
        await ledger.SayAsync("status");
        return Read<StatusLine>(await ledger.HearAsync(Limit, cancellation));
    }

    private static T Read<T>(string line)
        where T : class
    {
        try
        {
            return JsonSerializer.Deserialize<T>(line) ?? throw new JsonException("null");
        }
        catch (JsonException exception)
        {
            throw new ComparisonException($"the ledger said: {line}", exception);
        }
    }

    private async Task<AtRest> RestAsync(Conversation ledger, CancellationToken cancellation)
    {
        await Task.Delay(1000, cancellation);
        StatusLine status = await StatusAsync(ledger, cancellation);
        return new AtRest(
            ProcessWatch.ResidentMegabytes(servers.Server.Id), ProcessWatch.ResidentMegabytes(servers.Simulation.Id),
            ProcessWatch.Descriptors(servers.Server.Id), status.Connections);
    }

    private async Task<AtRest> RecoverAsync(Conversation ledger, AtRest before, CancellationToken cancellation)
    {
        long begun = Stopwatch.GetTimestamp();
        double limit = RecoveryLimit(context);
        AtRest now;
        do
        {
            now = await RestAsync(ledger, cancellation);
        }
        while (!HostileVerdict.IsBack(before, now) && Stopwatch.GetElapsedTime(begun).TotalSeconds < limit);
        return now;
    }
}
