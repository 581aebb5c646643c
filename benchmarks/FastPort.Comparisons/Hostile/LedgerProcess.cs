using System.Text.Json;

namespace FastPort.Comparisons.Hostile;

/// <summary>What the ledger says at its end.</summary>
/// <param name="Acknowledged">Relays and publications that the server has acknowledged.</param>
/// <param name="Arrived">Those of them that have arrived.</param>
/// <param name="Failed">Requests that had an error for an answer, or none.</param>
/// <param name="FirstFailure">The first of those; null where there is none.</param>
/// <param name="Newcomers">Good clients that came during the attack.</param>
/// <param name="NewcomersFailed">Those that were not let in or not answered within 30 s.</param>
/// <param name="FirstNewcomerFailure">Why the first of those was not; null where there is none.</param>
internal sealed record LedgerLine(
    long Acknowledged, long Arrived, long Failed, string? FirstFailure, long Newcomers, long NewcomersFailed,
    string? FirstNewcomerFailure);

/// <summary>The server's own counters as the ledger was told them.</summary>
internal sealed record StatusLine(long Connections, long Accepted, long Rejected, long ErrorsSent, long TimedOut);

/// <summary>
/// The process that keeps account of what the server acknowledges: two good sessions over TLS, of which one relays and publishes numbers to
/// the other. Besides, a good client comes anew twice a second. A line of its input asks for the server's counters; it ends with its input.
/// </summary>
internal static class LedgerProcess
{
    /// <summary>What begins the coming of new clients.</summary>
    public const string Begin = "begin";

    /// <summary>What ends it.</summary>
    public const string Pause = "pause";

    private const int FieldConnections = 3;
    private const int FieldAccepted = 5;
    private const int FieldRejected = 6;
    private const int FieldErrors = 12;
    private const int FieldTimedOut = 14;

    public static async Task<int> RunAsync(HostilePlan plan, CancellationToken cancellation)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        await using Ledger ledger = await Ledger.OpenAsync(plan, ending.Token);
        var newcomers = new Newcomers(plan);
        Task coming = newcomers.RunAsync(ending.Token);
        Console.WriteLine(AttackProcess.Ready);
        while (await Console.In.ReadLineAsync(cancellation) is { } line)
        {
            if (line is Begin or Pause)
            {
                newcomers.IsComing = line == Begin;
                continue;
            }

            Console.WriteLine(JsonSerializer.Serialize(await AskAsync(plan, cancellation)));
        }

        await ledger.EndAsync();
        await ending.CancelAsync();
        await coming;
        Console.WriteLine(JsonSerializer.Serialize(new LedgerLine(
            ledger.Acknowledged, ledger.Arrived, ledger.Failed, ledger.FirstFailure, newcomers.Came, newcomers.Failed,
            newcomers.FirstFailure)));
        return ExitCode.Good;
    }

    private static async Task<StatusLine> AskAsync(HostilePlan plan, CancellationToken cancellation)
    {
        using HostilePeer peer = await HostilePeer.ConnectAsync(plan.Tcp(), null, cancellation);
        await peer.HelloAsync("", plan.GoodToken, cancellation);
        await peer.SendAsync(HostileFrames.Frame(HostileFrames.Status, 7), cancellation);
        HostileFrame status = await LedgerSession.ReplyAsync(peer, 7, static _ => { }, cancellation);
        Dictionary<int, ulong> numbers = HostileFrames.Numbers(status.Body);
        return new StatusLine(
            Of(numbers, FieldConnections), Of(numbers, FieldAccepted), Of(numbers, FieldRejected), Of(numbers, FieldErrors),
            Of(numbers, FieldTimedOut));
    }

    private static long Of(Dictionary<int, ulong> numbers, int field) =>
        numbers.TryGetValue(field, out ulong value) ? long.CreateChecked(value) : 0;
}
