using System.CommandLine;

namespace FastPort.Comparisons.Hostile;

/// <summary>The processes of a hostile hour: this program again, with commands that nobody types.</summary>
internal static class HostileCommands
{
    public const string Attack = "hostile-attackers";
    public const string Ledger = "hostile-ledger";
    public const string Burn = "hostile-burn";

    private static readonly Option<string> Plan = new("--plan") { Description = "The plan's file.", Required = true };
    private static readonly Option<bool> Idle = new("--idle") { Description = "The idle ones alone." };
    private static readonly Option<double> Share = new("--share") { Description = "CPU time in a second.", Required = true };
    private static readonly Option<double> Limit = new("--limit") { Description = "Seconds at most.", Required = true };

    public static void AddTo(RootCommand root)
    {
        var attack = new Command(Attack, "Attackers.") { Plan, Idle };
        attack.Hidden = true;
        attack.SetAction((parsed, cancellation) =>
            AttackProcess.RunAsync(HostilePlan.Read(parsed.GetRequiredValue(Plan)), parsed.GetValue(Idle), cancellation));
        root.Add(attack);

        var ledger = new Command(Ledger, "Keeps account of what is acknowledged.") { Plan };
        ledger.Hidden = true;
        ledger.SetAction((parsed, cancellation) => LedgerProcess.RunAsync(HostilePlan.Read(parsed.GetRequiredValue(Plan)), cancellation));
        root.Add(ledger);

        var burn = new Command(Burn, "Burns CPU.") { Share, Limit };
        burn.Hidden = true;
        burn.SetAction((parsed, cancellation) =>
            BurnProcess.RunAsync(parsed.GetValue(Share), TimeSpan.FromSeconds(parsed.GetValue(Limit)), cancellation));
        root.Add(burn);
    }
}
