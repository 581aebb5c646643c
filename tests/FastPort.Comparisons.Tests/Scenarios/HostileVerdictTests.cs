using FastPort.Comparisons.Hostile;
using FastPort.Comparisons.Scenarios;
using Xunit;

namespace FastPort.Comparisons.Tests.Scenarios;

/// <summary>What fails a hostile hour: everything that was lost, and nothing that was late.</summary>
public sealed class HostileVerdictTests
{
    private static readonly AtRest Rest = new(ServerMegabytes: 100, SimulationMegabytes: 50, Descriptors: 180, Connections: 3);

    private static readonly GoodLoad Load = new(
        Messages: 600_000, Errors: 0, Missed: 0, Reconnects: 0, PerSecond: 10_000, P50Us: 80, P99Us: 5000, P999Us: 9000, MaxUs: 20_000,
        ServerP99Us: 9);

    private static readonly HostileFigures Good = new()
    {
        Attacked = Load,
        Burned = Load,
        AttackedCpu = new CpuShares(0.5, 0.1, 0.3, 0.4, 0),
        BurnedCpu = new CpuShares(0.3, 0, 0.3, 0.4, 0),
        Before = Rest,
        After = Rest,
        RecoverySeconds = 3,
        ServerPeakMegabytes = 400,
        SimulationPeakMegabytes = 200,
        PeakDescriptors = 16_000,
        Counters = new StatusLine(16_000, 50_000, 2000, 1000, 100),
        Ledger = new LedgerLine(6000, 6000, 0, null, 120, 0, null),
        Attacks = [new AttackLine("connect-flood", "connect and close; 200/s, 50 at a time", 12_000, 0, 50, null)],
    };

    [Fact]
    public void An_hour_in_which_nothing_was_lost_is_good_however_late_all_was()
    {
        HostileFigures late = Good with { Attacked = Load with { P99Us = 500_000, MaxUs = 2e6, Missed = 900, PerSecond = 9000 } };

        Assert.Empty(HostileVerdict.Failures(late, hasEnded: false));
        Assert.Equal(["attacked: the machine had room for 9,000 good requests/s alone"], HostileVerdict.Notes(late));
        Assert.Empty(HostileVerdict.Notes(Good));
    }

    [Fact]
    public void A_good_request_that_fails_is_a_failure_in_both_phases()
    {
        HostileFigures failed = Good with { Attacked = Load with { Errors = 2 }, Burned = Load with { Reconnects = 1 } };

        Assert.Equal(
            [
                "attacked: 2 good requests failed, 0 good sessions were lost",
                "CPU burned: 0 good requests failed, 1 good sessions were lost",
            ],
            HostileVerdict.Failures(failed, hasEnded: false));
    }

    [Fact]
    public void What_was_acknowledged_has_to_arrive()
    {
        Assert.Equal(
            ["of 6000 acknowledged messages 5999 arrived; 0 requests failed"],
            Failures(Good.Ledger with { Arrived = 5999 }));
        Assert.Equal(
            ["of 6000 acknowledged messages 6000 arrived; 1 requests failed: r7: was not delivered"],
            Failures(Good.Ledger with { Failed = 1, FirstFailure = "r7: was not delivered" }));
        Assert.Single(Failures(Good.Ledger with { Acknowledged = 0, Arrived = 0 }));
        Assert.Equal(
            ["1 of 120 good clients that came during the attack were not served: plainly: timed out"],
            Failures(Good.Ledger with { NewcomersFailed = 1, FirstNewcomerFailure = "plainly: timed out" }));
    }

    [Fact]
    public void Memory_has_a_budget_and_may_not_grow_while_the_attack_goes_on()
    {
        HostileFigures large = Good with
        {
            ServerPeakMegabytes = HostileVerdict.ServerBudgetMegabytes + 1,
            ServerTrend = new MemoryTrend(300, 354),
            SimulationTrend = new MemoryTrend(200, 245),
        };

        Assert.Equal(
            [
                "the server had 641 MB resident; the budget is 640",
                "the simulation grew from 200 MB in the attack's second quarter to 245 MB in its last",
            ],
            HostileVerdict.Failures(large, hasEnded: false));
    }

    [Theory]
    [InlineData(4, 180, 100, 50, "4 connections are open after the attack, 3 were before")]
    [InlineData(3, 197, 100, 50, "197 descriptors are open after the attack, 180 were before")]
    [InlineData(3, 180, 421, 50, "the server has 421 MB after the attack, 100 before")]
    [InlineData(3, 180, 100, 275, "the simulation has 275 MB after the attack, 50 before")]
    public void Everything_has_to_be_back(long connections, int descriptors, double server, double simulation, string failure)
    {
        AtRest after = new(server, simulation, descriptors, connections);

        Assert.False(HostileVerdict.IsBack(Rest, after));
        Assert.Equal([failure], HostileVerdict.Failures(Good with { After = after }, hasEnded: false));
        Assert.True(HostileVerdict.IsBack(Rest, Rest with { Descriptors = 196, ServerMegabytes = 324, SimulationMegabytes = 274 }));
    }

    [Fact]
    public void An_attack_with_success_or_without_attempts_and_a_server_that_has_ended_are_failures()
    {
        HostileFigures breached = Good with
        {
            Attacks = [Good.Attacks[0] with { Breach = "it was let in" }, Good.Attacks[0] with { Name = "idle", Attempts = 0 }],
        };

        Assert.Equal(
            ["a server has ended", "connect-flood: it was let in", "idle: did nothing"],
            HostileVerdict.Failures(breached, hasEnded: true));
    }

    private static IEnumerable<string> Failures(LedgerLine ledger) =>
        HostileVerdict.Failures(Good with { Ledger = ledger }, hasEnded: false);
}
