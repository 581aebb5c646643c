using System.Text.Json;

namespace FastPort.Comparisons.Hostile;

/// <summary>What an attacker says at its end.</summary>
internal sealed record AttackLine(string Name, string Description, long Attempts, long EndedByServer, long MostOpen, string? Breach);

/// <summary>
/// The process of the attackers: says that it is ready, attacks from the first line of its input to the input's end, and says what it did.
/// </summary>
internal static class AttackProcess
{
    /// <summary>What it says when it is ready.</summary>
    public const string Ready = "ready";

    public static async Task<int> RunAsync(HostilePlan plan, bool isIdle, CancellationToken cancellation)
    {
        Console.WriteLine(Ready);
        await Console.In.ReadLineAsync(cancellation);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        ending.CancelAfter(TimeSpan.FromSeconds(plan.LimitSeconds));
        var target = new AttackTarget(plan);
        (IAttacker Attacker, AttackCount Count)[] all =
            [.. AttackerCatalog.Of(plan, isIdle).Select(static attacker => (attacker, new AttackCount()))];
        Task[] running = [.. all.Select(one => Task.Run(() => AttackAsync(one.Attacker, one.Count), CancellationToken.None))];
        await Task.WhenAny(ProcessInput.EndAsync(), Task.Delay(Timeout.Infinite, ending.Token));
        await ending.CancelAsync();
        await Task.WhenAll(running);
        foreach ((IAttacker attacker, AttackCount count) in all)
        {
            Console.WriteLine(JsonSerializer.Serialize(
                new AttackLine(
                    attacker.Name, attacker.Description, count.Attempts, count.EndedByServer, count.MostOpen, count.Breach)));
        }

        return ExitCode.Good;

        async Task AttackAsync(IAttacker attacker, AttackCount count)
        {
            try
            {
                await attacker.RunAsync(target, count, ending.Token);
            }
            catch (OperationCanceledException) when (ending.IsCancellationRequested)
            {
                // The end of all attacks came between two of its steps.
            }
        }
    }
}
