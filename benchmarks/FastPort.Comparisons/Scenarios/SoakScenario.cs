using System.Globalization;
using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// Everything at once for a long time, server and loads in a process each (benchmarks/FastPortPeer): every message accounted for, no error,
/// memory that does not grow. Any deviation fails.
/// </summary>
internal sealed class SoakScenario : IScenario
{
    private const double DefaultMinutes = 30;
    private const double SamplesARun = 120;

    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    /// <summary>What the loads may take to end their last rounds, and the server to stop.</summary>
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(120);

    // Counters of the server that have to be 0 in the end: nothing is left open, and nobody has done anything that it could refuse.
    private static readonly string[] ZeroCounters =
        ["connections_open", "sessions_open", "connections_rejected", "accept_errors", "errors_sent", "one_way_failures", "frames_dropped",
            "timeouts_closed"];

    public string Name => "soak";

    public string Description =>
        "Mixed load for a long time, over TCP and WebSockets: echoes, streams both ways, relays, connects and disconnects, slow readers. "
        + "Exact accounts, no error, flat memory.";

    public async Task<ScenarioReport> RunAsync(ScenarioContext context, CancellationToken cancellation)
    {
        var run = new SoakRun();
        var failures = new List<string>();
        try
        {
            await MeasureAsync(context, run, cancellation);
            failures.AddRange(run.Deviations(ZeroCounters));
        }
        catch (ComparisonException exception)
        {
            failures.Add(exception.Message);
        }

        return new ScenarioReport
        {
            Name = Name,
            Description = Description,
            Method = string.Create(
                CultureInfo.InvariantCulture, $"{Minutes(context)} minutes, nothing pinned. {SoakMemory.Rule}"),
            Columns = [],
            Workloads =
            [
                new WorkloadReport { Title = "all loads at once", Contestants = [], Ratios = [], Notes = [], Failures = failures },
            ],
            Tables = [run.Accounts(), run.Memory()],
        };
    }

    private static double Minutes(ScenarioContext context) => context.Options.Minutes ?? DefaultMinutes;

    private static async Task MeasureAsync(ScenarioContext context, SoakRun run, CancellationToken cancellation)
    {
        string assembly = context.Bench.Programs.Find("benchmarks", "FastPortPeer");
        if (ProgramLocator.MissingAssembly("FastPort's peer", assembly) is { } missing)
        {
            throw new ComparisonException(missing);
        }

        double seconds = Minutes(context) * 60;
        string[] sampling = ["--sample-seconds", Invariant.Text(Math.Max(0.5, seconds / SamplesARun))];
        using var server = Conversation.Start(
            "the soak's server",
            [ProgramLocator.DotNetHost, assembly, "soak-server", "--endpoint", "tcp://127.0.0.1:0", "--websocket", "ws://127.0.0.1:0",
                .. sampling],
            context.Bench);
        string endpoint = await EndpointAsync(server, cancellation);
        string webSocket = await EndpointAsync(server, cancellation);
        using var load = Conversation.Start(
            "the soak's load",
            [ProgramLocator.DotNetHost, assembly, "soak-load", "--endpoint", endpoint, "--websocket", webSocket, "--seconds",
                Invariant.Text(seconds), .. sampling],
            context.Bench);
        context.Progress($"soak: {Minutes(context):0.##} minutes of mixed load");

        Task hearing = run.HearAsync("server", server.HearAllAsync(cancellation), context.Progress);
        try
        {
            await run.HearAsync("loads", load.HearAllAsync(cancellation), context.Progress)
                .WaitAsync(TimeSpan.FromSeconds(seconds) + EndLimit, cancellation);
        }
        catch (TimeoutException exception)
        {
            throw new ComparisonException(
                $"the loads did not end within {EndLimit.TotalSeconds:0} s after they were to; they said: {load.Errors()}", exception);
        }

        int loadExit = await load.EndAsync(EndLimit, cancellation);
        int serverExit = await server.EndAsync(EndLimit, cancellation);
        await hearing;
        if (loadExit != 0 || serverExit != 0)
        {
            throw new ComparisonException(
                $"the loads ended with exit code {loadExit}, the server with {serverExit}; they said: {load.Errors()} {server.Errors()}");
        }
    }

    private static async Task<string> EndpointAsync(Conversation server, CancellationToken cancellation) =>
        ListeningLine.Read(await server.HearAsync(StartLimit, cancellation))
            ?? throw new ComparisonException("the soak's server did not say where it listens");
}
