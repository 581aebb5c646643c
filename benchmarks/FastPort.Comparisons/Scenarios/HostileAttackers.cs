using System.Text.Json;
using FastPort.Comparisons.Hostile;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Scenarios;

/// <summary>The processes of the attackers: the idle ones have one of their own, as they need all its descriptors.</summary>
internal sealed class HostileAttackers(HostilePeers peers) : IDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly List<Conversation> _processes = [];

    /// <summary>CPU time that they have used so far.</summary>
    public double CpuSeconds => _processes.Sum(static process => CoreMeter.ProcessSeconds(process.Id));

    /// <summary>Starts them; they do nothing yet.</summary>
    public async Task StartAsync(bool withIdle, CancellationToken cancellation)
    {
        _processes.Add(peers.Start(HostileCommands.Attack));
        if (withIdle)
        {
            _processes.Add(peers.Start(HostileCommands.Attack, "--idle"));
        }

        foreach (Conversation process in _processes)
        {
            await process.HearAsync(Limit, cancellation);
        }
    }

    /// <summary>Lets them begin.</summary>
    public async Task BeginAsync()
    {
        foreach (Conversation process in _processes)
        {
            await process.SayAsync("go");
        }
    }

    /// <summary>Ends them.</summary>
    /// <returns>What each kind has done.</returns>
    public async Task<IReadOnlyList<AttackLine>> EndAsync(CancellationToken cancellation)
    {
        var lines = new List<AttackLine>();
        foreach (Conversation process in _processes)
        {
            int exit = await process.EndAsync(Limit, cancellation);
            if (exit != 0)
            {
                throw new ComparisonException($"the attackers ended with exit code {exit}; they said: {process.Errors()}");
            }

            await foreach (string line in process.HearAllAsync(cancellation))
            {
                lines.Add(JsonSerializer.Deserialize<AttackLine>(line) ?? throw new ComparisonException($"an attacker said: {line}"));
            }
        }

        return lines;
    }

    public void Dispose() => _processes.ForEach(static process => process.Dispose());
}
