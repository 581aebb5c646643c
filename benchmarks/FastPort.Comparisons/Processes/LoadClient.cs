using System.Globalization;
using System.Text.Json;

namespace FastPort.Comparisons.Processes;

/// <summary>The load client in C: built once a run, started once a measurement.</summary>
internal sealed class LoadClient
{
    /// <summary>The C compiler's name on the search path.</summary>
    public const string Compiler = "cc";

    /// <summary>Load before the measured time of every run: connections open, windows and caches fill.</summary>
    private const double LeadInSeconds = 0.5;

    /// <summary>What a run may take beyond its load: connecting, its last replies.</summary>
    private const double GraceSeconds = 60;

    private static readonly Dictionary<string, string> NoEnvironment = new(StringComparer.Ordinal);

    private readonly Workbench _bench;
    private readonly string _program;

    private LoadClient(Workbench bench, string program)
    {
        _bench = bench;
        _program = program;
    }

    /// <summary>Compiles the client into the run's temporary folder.</summary>
    public static async Task<LoadClient> BuildAsync(Workbench bench, CancellationToken cancellation)
    {
        string source = Path.Combine(bench.Programs.Root, "benchmarks", "LoadClientC", "echo_load.c");
        string program = Path.Combine(bench.TemporaryFolder, "echo_load");
        string[] command = [Compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source];
        using ChildProcess build = bench.Children.Start(command, bench.TemporaryFolder, NoEnvironment);
        await build.WaitForExitAsync(cancellation);
        return build.ExitCode == 0
            ? new LoadClient(bench, program)
            : throw new ComparisonException($"The load client does not compile ({string.Join(' ', command)}): {build.Errors()}");
    }

    /// <summary>Loads a server without keeping figures, so that its code is compiled and tuned.</summary>
    public Task WarmUpAsync(ServerProcess server, LoadShape shape, double seconds, CancellationToken cancellation) =>
        RunAsync(server, shape, 0, seconds, cancellation);

    /// <summary>One measured run.</summary>
    public Task<LoadResult> MeasureAsync(ServerProcess server, LoadShape shape, double seconds, CancellationToken cancellation) =>
        RunAsync(server, shape, LeadInSeconds, seconds, cancellation);

    private async Task<LoadResult> RunAsync(ServerProcess server, LoadShape shape, double leadIn, double seconds, CancellationToken cancellation)
    {
        int? core = shape.OnServerCore ? _bench.Pinning.ServerCore : _bench.Pinning.ClientCore;
        string[] command =
        [
            _program,
            "--host", server.Endpoint.Host,
            "--port", Text(server.Endpoint.Port),
            "--connections", Text(shape.Connections),
            "--in-flight", Text(shape.InFlight),
            "--size", Text(shape.PayloadBytes),
            "--type", Text(server.Candidate.MessageType),
            "--warmup", Text(leadIn),
            "--duration", Text(seconds),
            "--server-pid", Text(server.Id),
            .. _bench.Pinning.IsPinned ? (string[])["--watch-cores", $"{_bench.Pinning.ServerCore},{_bench.Pinning.ClientCore}"] : [],
        ];
        using ChildProcess run = _bench.Children.Start(_bench.Pinning.On(core, command), _bench.TemporaryFolder, NoEnvironment);
        try
        {
            await run.WaitForExitAsync(cancellation).WaitAsync(TimeSpan.FromSeconds(leadIn + seconds + GraceSeconds), cancellation);
        }
        catch (TimeoutException exception)
        {
            throw new ComparisonException($"The load client on {server.Candidate.Name} ({shape.Title}) did not end in time", exception);
        }

        if (run.ExitCode != 0)
        {
            string serverSaid = server.Errors();
            throw new ComparisonException(
                $"The load client on {server.Candidate.Name} ({shape.Title}) ended with exit code {run.ExitCode}: {run.Errors()}" +
                (serverSaid.Length > 0 ? $"; the server said: {serverSaid}" : ""));
        }

        return JsonSerializer.Deserialize<LoadResult>(run.Output(), LoadResult.Format)
            ?? throw new ComparisonException($"The load client on {server.Candidate.Name} ({shape.Title}) printed no result");
    }

    private static string Text(IFormattable value) => value.ToString(null, CultureInfo.InvariantCulture);
}
