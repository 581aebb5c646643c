namespace FastPort.Comparisons.Simulation;

/// <summary>
/// What <c>nodes</c> measures, simulated: two nodes, Redis and a load that share the cores of one machine; each relay's confirmation
/// begins the next. What a sender has to send when its turn comes goes with one call.
/// </summary>
internal sealed class TwoNodes
{
    private const double Second = 1e6;

    private readonly Cluster _cluster;
    private readonly Traffic _traffic;
    private readonly Processor _machine;
    private readonly WorkThread _load = new();
    private readonly int[] _waiting;

    private TwoNodes(UnitCosts costs, int senders, int inFlight)
    {
        var agenda = new Agenda();
        _machine = new Processor(agenda, cores: 2, costs.Wake);
        var settings = new SimulationSettings { Nodes = 2, Ids = senders, IdLength = 9, Costs = costs with { Network = 0 } };
        _cluster = new Cluster(settings, _machine, agenda);
        _traffic = new Traffic(_cluster);
        _waiting = new int[senders];
        for (int i = 0; i < senders * inFlight; i++)
        {
            Next(i % senders);
        }
    }

    /// <summary>Runs so many senders with so many relays in flight each.</summary>
    public static Observation Run(UnitCosts costs, int senders, int inFlight, double seconds)
    {
        var two = new TwoNodes(costs, senders, inFlight);
        two._cluster.Agenda.RunUntil(Second / 10);
        return Observation.Run(two._cluster, seconds);
    }

    private void Next(int sender)
    {
        if (_waiting[sender]++ == 0)
        {
            _machine.Run(_load, _cluster.Costs.Socket, () => Send(sender));
        }
    }

    private void Send(int sender)
    {
        int count = _waiting[sender];
        _waiting[sender] = 0;
        double sentAt = _cluster.Agenda.Now;
        SimulatedNode from = _cluster.Nodes[0];
        var relay = new Journey(from, _cluster.Nodes[1], sender + 1, sentAt, () => Next(sender));
        _machine.Run(_load, count * _cluster.Costs.Load, () =>
            _machine.Run(from.Loop, _cluster.Costs.Socket + (count * _cluster.Costs.Relay / 3), () =>
            {
                for (int i = 0; i < count; i++)
                {
                    _traffic.Send(from, relay);
                }
            }));
    }
}
