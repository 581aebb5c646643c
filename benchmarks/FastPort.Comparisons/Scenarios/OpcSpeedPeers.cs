using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Scenarios;

/// <summary>FastPort's servers and clients of <c>opcspeed</c> (benchmarks/OpcUaPeer).</summary>
/// <param name="context">The run.</param>
/// <param name="network">The networks of remote rows; null for no such row.</param>
internal sealed class OpcSpeedPeers(ScenarioContext context, NetworkPair? network)
{
    private readonly OpcUaPeers _local = new(context);
    private readonly OpcUaPeers _remote = new(context, network);
    private readonly CpuPinning _pinning = context.Bench.Pinning;
    private readonly string _assembly = context.Bench.Programs.Find("benchmarks", "OpcUaPeer");

    public IContestant Of(OpcSpeedRow row)
    {
        var ask = new OpcUaAsk("read", row.Items, row.Outstanding, OpcUaAsk.None) { Clients = row.Clients };
        return row.Place switch
        {
            OpcSpeedPlace.InProcess => InProcess(ask),
            OpcSpeedPlace.Local => _local.Own(ask, _pinning.Server, _pinning.Client),
            OpcSpeedPlace.Bridged => _local.Bridged(ask, _pinning.Server, _pinning.Client),
            OpcSpeedPlace.Remote => _remote.Own(ask, _pinning.Server, _pinning.Client),
            _ => _local.Monitoring(
                new OpcUaItems(1, OpcSpeedRow.Tags, row.Items, OpcSpeedRow.Interval, OpcSpeedRow.Interval), _pinning.Server,
                _pinning.Client),
        };
    }

    private OpcUaPair InProcess(OpcUaAsk ask) => new(
        [],
        new OpcUaClientCommand(
            _ =>
            [
                ProgramLocator.DotNetHost, _assembly, "in-process", "--count", Invariant.Text(ask.Count),
                "--outstanding", Invariant.Text(ask.Outstanding),
            ],
            _local.MissingOwn)
        {
            Cores = _pinning.Both,
            TagsPerRequest = ask.Tags,
        },
        context)
    {
        Name = OpcUaPeers.FastPort,
    };
}
