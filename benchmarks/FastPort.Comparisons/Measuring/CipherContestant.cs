using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>AES and HMAC of a request's and a response's bytes, at both ends, and nothing else (benchmarks/OpcUaPeer).</summary>
internal sealed class CipherContestant(int requestBytes, int responseBytes, ScenarioContext context) : IContestant
{
    private readonly string _assembly = context.Bench.Programs.Find("benchmarks", "OpcUaPeer");
    private Conversation? _ciphers;

    public required string Name { get; init; }

    public string? Missing() => ProgramLocator.MissingAssembly("FastPort's OPC UA peer", _assembly);

    public async Task StartAsync(CancellationToken cancellation)
    {
        string[] command =
        [
            ProgramLocator.DotNetHost, _assembly, "ciphers", "--request-bytes", Invariant.Text(requestBytes),
            "--response-bytes", Invariant.Text(responseBytes),
        ];
        _ciphers = await Conversation.StartReadyAsync(
            Name, context.Bench.Pinning.On(context.Bench.Pinning.Server, command), context.Bench, cancellation);
        await _ciphers.RunAsync(context.Options.LeadInSeconds, context.Options.WarmupSeconds, cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        LoadResult run = await _ciphers!.RunAsync(context.Options.LeadInSeconds, context.Options.Seconds, cancellation);
        return new Figures
        {
            [Metric.Throughput] = run.MessagesPerS,
            [Metric.ClientCpuPerMessage] = run.ClientCpuS * 1e6 / run.Messages,
            [Metric.BothCpuPerMessage] = run.ClientCpuS * 1e6 / run.Messages,
        };
    }

    public void Dispose() => _ciphers?.Dispose();
}
