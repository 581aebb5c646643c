using FastPort.Comparisons.Hostile;

namespace FastPort.Comparisons.Scenarios;

/// <summary>What has to hold in a hostile hour whatever the machine; times are no part of it.</summary>
internal static class HostileVerdict
{
    /// <summary>
    /// Resident memory of the server at most: at rest, 64 MB of buffers, sessions, TLS, a password's 19 MB, and what is garbage.
    /// </summary>
    public const double ServerBudgetMegabytes = 640;

    /// <summary>The same of the OPC UA simulation, whose requests have 16 MiB at most.</summary>
    public const double SimulationBudgetMegabytes = 512;

    /// <summary>The good clients' connections and their rate together.</summary>
    public const int Connections = 100;

    /// <summary>Messages a second.</summary>
    public const int Rate = 10_000;

    // Threads of the pool and files of the log come and go.
    private const int DescriptorAllowance = 16;

    // What the collector keeps in hand once it had it: it gives little back to the system while nothing is allocated.
    private const double MemoryAllowanceMegabytes = 224;

    // The server had 10,000 sessions, and the good requests allocate nothing: no collection need come soon after the attack.
    private const double ServerMemoryAllowanceMegabytes = 320;

    // As SoakMemory has it: a tenth, and the array that a thread's pool keeps.
    private const double GrowthFactor = 1.10;
    private const double GrowthAllowanceMegabytes = 24;

    private const double RateShare = 0.99;

    /// <summary>Whether a server is back where it was.</summary>
    public static bool IsBack(AtRest before, AtRest now) => NotBack(before, now).FirstOrDefault() is null;

    /// <summary>Everything that is not as it has to be.</summary>
    /// <param name="figures">What was measured.</param>
    /// <param name="hasEnded">Whether a server has ended.</param>
    public static IEnumerable<string> Failures(HostileFigures figures, bool hasEnded)
    {
        if (hasEnded)
        {
            yield return "a server has ended";
        }

        foreach ((string phase, GoodLoad load) in new[] { ("attacked", figures.Attacked), ("CPU burned", figures.Burned) })
        {
            if (load.Errors > 0 || load.Reconnects > 0)
            {
                yield return $"{phase}: {load.Errors} good requests failed, {load.Reconnects} good sessions were lost";
            }

            if (load.Messages == 0)
            {
                yield return $"{phase}: no good request was answered";
            }
        }

        LedgerLine ledger = figures.Ledger;
        if (ledger.Acknowledged == 0 || ledger.Failed > 0 || ledger.Arrived < ledger.Acknowledged)
        {
            yield return $"of {ledger.Acknowledged} acknowledged messages {ledger.Arrived} arrived; {ledger.Failed} requests failed"
                + $"{(ledger.FirstFailure is null ? "" : ": ")}{ledger.FirstFailure}";
        }

        if (ledger.NewcomersFailed > 0)
        {
            yield return $"{ledger.NewcomersFailed} of {ledger.Newcomers} good clients that came during the attack were not served: "
                + ledger.FirstNewcomerFailure;
        }

        foreach (AttackLine attack in figures.Attacks.Where(static attack => attack.Breach is not null))
        {
            yield return $"{attack.Name}: {attack.Breach}";
        }

        foreach (AttackLine attack in figures.Attacks.Where(static attack => attack.Attempts == 0))
        {
            yield return $"{attack.Name}: did nothing";
        }

        foreach (string over in OverBudget(figures).Concat(Growth(figures)).Concat(NotBack(figures.Before, figures.After)))
        {
            yield return over;
        }
    }

    /// <summary>What disturbed the times, which nothing depends on but the target.</summary>
    public static IEnumerable<string> Notes(HostileFigures figures)
    {
        foreach ((string phase, GoodLoad load) in new[] { ("attacked", figures.Attacked), ("CPU burned", figures.Burned) })
        {
            if (load.PerSecond < Rate * RateShare)
            {
                yield return FormattableString.Invariant($"{phase}: the machine had room for {load.PerSecond:N0} good requests/s alone");
            }
        }
    }

    private static IEnumerable<string> OverBudget(HostileFigures figures)
    {
        if (figures.ServerPeakMegabytes > ServerBudgetMegabytes)
        {
            yield return FormattableString.Invariant(
                $"the server had {figures.ServerPeakMegabytes:N0} MB resident; the budget is {ServerBudgetMegabytes:N0}");
        }

        if (figures.SimulationPeakMegabytes > SimulationBudgetMegabytes)
        {
            yield return FormattableString.Invariant(
                $"the simulation had {figures.SimulationPeakMegabytes:N0} MB resident; the budget is {SimulationBudgetMegabytes:N0}");
        }
    }

    private static IEnumerable<string> Growth(HostileFigures figures)
    {
        (string, MemoryTrend?)[] trends = [("server", figures.ServerTrend), ("simulation", figures.SimulationTrend)];
        foreach ((string name, MemoryTrend? trend) in trends)
        {
            if (trend is not null && trend.LateMegabytes > (trend.EarlyMegabytes * GrowthFactor) + GrowthAllowanceMegabytes)
            {
                yield return FormattableString.Invariant(
                    $"the {name} grew from {trend.EarlyMegabytes:N0} MB in the attack's second quarter to ")
                    + FormattableString.Invariant($"{trend.LateMegabytes:N0} MB in its last");
            }
        }
    }

    private static IEnumerable<string> NotBack(AtRest before, AtRest now)
    {
        if (now.Connections != before.Connections)
        {
            yield return $"{now.Connections} connections are open after the attack, {before.Connections} were before";
        }

        if (now.Descriptors > before.Descriptors + DescriptorAllowance)
        {
            yield return $"{now.Descriptors} descriptors are open after the attack, {before.Descriptors} were before";
        }

        if (now.ServerMegabytes > before.ServerMegabytes + ServerMemoryAllowanceMegabytes)
        {
            yield return FormattableString.Invariant(
                $"the server has {now.ServerMegabytes:N0} MB after the attack, {before.ServerMegabytes:N0} before");
        }

        if (now.SimulationMegabytes > before.SimulationMegabytes + MemoryAllowanceMegabytes)
        {
            yield return FormattableString.Invariant(
                $"the simulation has {now.SimulationMegabytes:N0} MB after the attack, {before.SimulationMegabytes:N0} before");
        }
    }
}
