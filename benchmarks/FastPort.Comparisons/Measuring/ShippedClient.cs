using System.Text.Json;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>FastPort.Client's load command as users run it: a process of its own for each run, so each is warmed.</summary>
internal sealed class ShippedClient(ScenarioContext context)
{
    private const double GraceSeconds = 60;

    private readonly string _assembly = context.Bench.Programs.Find("src", "FastPort.Client");

    /// <summary>Why it cannot be run; null where it can.</summary>
    public string? Missing() => ProgramLocator.MissingAssembly("FastPort.Client", _assembly);

    /// <summary>Loads a server.</summary>
    /// <param name="server">The server.</param>
    /// <param name="load">What kind of load: arguments of the load command.</param>
    /// <param name="cancellation">Ends the client.</param>
    /// <returns>The result that the client wrote; it has no errors.</returns>
    /// <exception cref="ComparisonException">The run failed, or messages were lost or wrong.</exception>
    public async Task<JsonElement> RunAsync(ServerProcess server, IReadOnlyList<string> load, CancellationToken cancellation)
    {
        string file = context.Bench.NewPath("load.json");
        double seconds = context.Options.Seconds;
        double warmup = context.Options.WarmupSeconds;
        string[] command =
        [
            ProgramLocator.DotNetHost, _assembly, "load", "--server", server.Endpoint, .. load,
            "--warmup", $"{Invariant.Text(warmup)}s", "--duration", $"{Invariant.Text(seconds)}s", "--json", file, "--no-progress",
        ];
        await context.Bench.RunAsync(
            "FastPort.Client", context.Bench.Pinning.On(context.Bench.Pinning.Client, command), warmup + seconds + GraceSeconds,
            cancellation);
        try
        {
            return Read(await File.ReadAllTextAsync(file, cancellation));
        }
        catch (IOException exception)
        {
            throw new ComparisonException($"FastPort.Client's result cannot be read: {exception.Message}", exception);
        }
    }

    /// <summary>Reads what the client has written.</summary>
    /// <exception cref="ComparisonException">It is no result, or one with errors.</exception>
    public static JsonElement Read(string json)
    {
        try
        {
            using JsonDocument result = JsonDocument.Parse(json);
            long errors = result.RootElement.GetProperty("errors").GetInt64();
            return errors == 0 ? result.RootElement.Clone() : throw new ComparisonException($"FastPort.Client counted {errors} errors");
        }
        catch (Exception exception) when (exception is JsonException or KeyNotFoundException or InvalidOperationException)
        {
            throw new ComparisonException($"FastPort.Client wrote no result that can be read: {exception.Message}", exception);
        }
    }
}
