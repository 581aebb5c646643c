using System.Text.Json;
using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// The two programs as they are shipped: FastPort.Client sends one-way messages to FastPort.Server, whose Sink handler counts them. Nothing
/// is set but the size, so the client has its 32 connections and the server measures every message. The rate is that of the messages that
/// the server has counted.
/// </summary>
internal sealed class ShippedContestant(string name, Candidate server, int messageBytes, ScenarioContext context) : IContestant
{
    private readonly ShippedClient _client = new(context);
    private ServerProcess? _server;

    public string Name => name;

    public string? Missing() => server.Missing() ?? _client.Missing();

    public async Task StartAsync(CancellationToken cancellation)
    {
        _server = await ServerProcess.StartAsync(server, context.Bench, cancellation);
        await MeasureAsync(cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation) => FiguresOf(
        await _client.RunAsync(
            _server ?? throw new InvalidOperationException("The server has not been started."),
            ["--mode", "sink", "--size", Invariant.Text(messageBytes)],
            cancellation));

    public void Dispose() => _server?.Dispose();

    /// <summary>The figures of a result that FastPort.Client has written.</summary>
    public static Figures FiguresOf(JsonElement result) => new()
    {
        [Metric.Throughput] = result.GetProperty("messages_per_s").GetDouble(),
        [Metric.Megabytes] = result.GetProperty("bytes_per_s").GetDouble() / 1e6,
    };
}
