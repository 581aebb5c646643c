using FastPort.Comparisons.Hostile;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// Who connects: all on one core, attackers and burner with a small claim to it (nice), so that the good clients are not slow for want
/// of a core of their own.
/// </summary>
internal sealed class HostilePeers(ScenarioContext context, NetworkPair? networks, HostileServers servers)
{
    private const string Niceness = "10";

    private static readonly TimeSpan LoadGrace = TimeSpan.FromSeconds(60);
    private readonly string _plan = Write(context, "plan.json", servers.Plan.Write);
    private readonly string _token = Write(context, "good.token", file => File.WriteAllText(file, servers.Plan.GoodToken));
    private readonly string _client = context.Bench.Programs.Find("src", "FastPort.Client");

    /// <summary>Starts a process of this program.</summary>
    /// <param name="command">One of <see cref="HostileCommands"/>.</param>
    /// <param name="arguments">Arguments; those who connect get the plan besides.</param>
    public Conversation Start(string command, params string[] arguments)
    {
        string own = context.Bench.Programs.Find("benchmarks", "FastPort.Comparisons");
        string[] plan = command == HostileCommands.Burn ? [] : ["--plan", _plan];
        string[] nice = command != HostileCommands.Ledger && ProgramLocator.FindTool("nice") is { } tool ? [tool, "-n", Niceness] : [];
        return Conversation.Start(
            command, On([.. nice, ProgramLocator.DotNetHost, own, command, .. plan, .. arguments]), context.Bench);
    }

    /// <summary>Runs the good clients.</summary>
    public async Task<(GoodLoad Load, CpuShares Cpu)> LoadAsync(
        double warmup, double seconds, Func<Task> begin, CancellationToken cancellation, object? beside = null)
    {
        string file = context.Bench.NewPath("good.json");
        string[] command =
        [
            ProgramLocator.DotNetHost, _client, "load", "--server", $"tcp://{servers.Plan.Host}:{Invariant.Text(servers.Plan.TcpPort)}",
            "--token-file", _token, "--allow-plaintext", "--connections", Invariant.Text(HostileVerdict.Connections),
            "--rate", Invariant.Text(HostileVerdict.Rate), "--warmup", $"{Invariant.Text(warmup)}s",
            "--duration", $"{Invariant.Text(seconds)}s", "--json", file, "--no-progress",
        ];
        Dictionary<string, string> environment = new(StringComparer.Ordinal)
        {
            ["LatencyStats__OutputDirectory"] = Path.Combine(context.Bench.TemporaryFolder, "GoodStats"),
        };
        using ChildProcess load = context.Bench.Children.Start(On(command), context.Bench.TemporaryFolder, environment);

        // They are connected by then: their sessions are there before the attack.
        await Task.Delay(TimeSpan.FromSeconds(warmup), cancellation);
        await begin();
        CpuShares before = Cpu(load.Id, beside);
        await Task.Delay(TimeSpan.FromSeconds(seconds), cancellation);
        CpuShares after = Cpu(load.Id, beside);
        try
        {
            await load.WaitForExitAsync(cancellation).WaitAsync(LoadGrace, cancellation);
        }
        catch (TimeoutException exception)
        {
            throw new ComparisonException($"the good clients did not end in time; they said: {load.Errors()}", exception);
        }

        if (!File.Exists(file))
        {
            throw new ComparisonException($"the good clients ended with exit code {load.ExitCode} and no result: {load.Errors()}");
        }

        var shares = new CpuShares(
            (after.Server - before.Server) / seconds, (after.Simulation - before.Simulation) / seconds,
            (after.Good - before.Good) / seconds, (after.Attackers - before.Attackers) / seconds, Other(before, after) / seconds);
        return (GoodLoad.Read(await File.ReadAllTextAsync(file, cancellation)), shares);
    }

    private static string Write(ScenarioContext context, string name, Action<string> write)
    {
        string file = context.Bench.NewPath(name);
        write(file);
        return file;
    }

    private CpuShares Cpu(int good, object? beside) => new(
        CoreMeter.ProcessSeconds(servers.Server.Id),
        CoreMeter.ProcessSeconds(servers.Simulation.Id),
        CoreMeter.ProcessSeconds(good),
        beside switch
        {
            HostileAttackers attackers => attackers.CpuSeconds,
            Conversation burner => CoreMeter.ProcessSeconds(burner.Id),
            _ => 0,
        },
        CoreMeter.Read(context.Bench.Pinning.Both).Busy);

    // What the cores did beyond what is known of. The ledger and this program are among the others: some hundredths of a core.
    private static double Other(CpuShares before, CpuShares after) => Math.Max(0, after.Other - before.Other - (Own(after) - Own(before)));

    private static double Own(CpuShares cpu) => cpu.Server + cpu.Simulation + cpu.Good + cpu.Attackers;

    private IReadOnlyList<string> On(IReadOnlyList<string> command) =>
        [.. networks?.Client ?? [], .. context.Bench.Pinning.On(context.Bench.Pinning.Client, command)];
}
