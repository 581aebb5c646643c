using FastPort.Comparisons.Hostile;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>The tables of a hostile hour.</summary>
internal static class HostileTables
{
    public static IReadOnlyList<ReportTable> Of(HostileFigures figures) => [Good(figures), Kept(figures), Attacks(figures.Attacks)];

    private static ReportTable Good(HostileFigures figures) => new(
        ["phase", "good requests", "failed", "not sent in time", "requests/s", "p50 us", "p99 us", "p99.9 us", "max us",
            "in the server, p99 us", "server CPU", "simulation CPU", "good clients' CPU", "attackers' or burned CPU",
            "other programs' CPU"],
        [Row("attacked", figures.Attacked, figures.AttackedCpu), Row("CPU burned", figures.Burned, figures.BurnedCpu)]);

    private static IReadOnlyList<string> Row(string phase, GoodLoad load, CpuShares cpu) =>
    [
        phase, Text(load.Messages), Text(load.Errors), Text(load.Missed), Text(load.PerSecond), Text(load.P50Us), Text(load.P99Us),
        Text(load.P999Us), Text(load.MaxUs), Text(load.ServerP99Us), Share(cpu.Server), Share(cpu.Simulation), Share(cpu.Good),
        Share(cpu.Attackers), Share(cpu.Other),
    ];

    private static ReportTable Kept(HostileFigures figures) => new(
        ["what", "before", "during, at most", "after", "allowed"],
        [
            ["server, MB resident", Text(figures.Before.ServerMegabytes), Text(figures.ServerPeakMegabytes),
                Text(figures.After.ServerMegabytes), Text(HostileVerdict.ServerBudgetMegabytes)],
            ["OPC UA simulation, MB resident", Text(figures.Before.SimulationMegabytes), Text(figures.SimulationPeakMegabytes),
                Text(figures.After.SimulationMegabytes), Text(HostileVerdict.SimulationBudgetMegabytes)],
            ["server's descriptors", Text(figures.Before.Descriptors), Text(figures.PeakDescriptors), Text(figures.After.Descriptors), "-"],
            ["server's connections", Text(figures.Before.Connections), Text(figures.Counters.Connections),
                Text(figures.After.Connections), "-"],
            ["seconds until all was back", "-", "-", FormattableString.Invariant($"{figures.RecoverySeconds:0.0}"), "-"],
            ["connections accepted, refused", "-", $"{Text(figures.Counters.Accepted)}, {Text(figures.Counters.Rejected)}", "-", "-"],
            ["acknowledged relays and publications, arrived", "-",
                $"{Text(figures.Ledger.Acknowledged)}, {Text(figures.Ledger.Arrived)}", "-", "all"],
            ["good clients that came anew, not served", "-",
                $"{Text(figures.Ledger.Newcomers)}, {Text(figures.Ledger.NewcomersFailed)}", "-", "0"],
        ]);

    private static ReportTable Attacks(IReadOnlyList<AttackLine> attacks) => new(
        ["attack", "what is done, at most how often", "begun", "ended by the server", "most at once"],
        [
            .. attacks.Select(static attack => (IReadOnlyList<string>)
            [
                attack.Name, attack.Description, Text(attack.Attempts), Text(attack.EndedByServer), Text(attack.MostOpen),
            ]),
        ]);

    private static string Text(double value) => FormattableString.Invariant($"{value:N0}");

    private static string Share(double value) => FormattableString.Invariant($"{value:P0}");
}
