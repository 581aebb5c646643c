namespace FastPort.Comparisons.Simulation;

/// <summary>What a cluster did in a time.</summary>
internal sealed class Observation
{
    private readonly Cluster _cluster;
    private readonly double _begun;
    private readonly double[] _busy;
    private readonly long _bytes;

    private Observation(Cluster cluster)
    {
        _cluster = cluster;
        _begun = cluster.Agenda.Now;
        _busy = [.. cluster.Shards.Select(static shard => shard.Processor.Busy)];
        _bytes = cluster.Shards.Sum(static shard => shard.Bytes);
    }

    /// <summary>Share of its core that the busiest server of Redis has worked.</summary>
    public double Busiest { get; private set; }

    /// <summary>Relays that were confirmed.</summary>
    public double RelaysPerSecond { get; private set; }

    public double BytesPerSecond { get; private set; }

    public Counters Counters => _cluster.Counters;

    /// <summary>Lets a cluster run for so many seconds and says what it did.</summary>
    public static Observation Run(Cluster cluster, double seconds)
    {
        cluster.Counters.Reset();
        var observation = new Observation(cluster);
        cluster.Agenda.RunUntil(cluster.Agenda.Now + (seconds * 1e6));
        observation.End();
        return observation;
    }

    private void End()
    {
        double time = _cluster.Agenda.Now - _begun;
        Busiest = Math.Min(1, _cluster.Shards.Select((shard, i) => (shard.Processor.Busy - _busy[i]) / time).Max());
        RelaysPerSecond = Counters.Relays.Count / time * 1e6;
        BytesPerSecond = (_cluster.Shards.Sum(static shard => shard.Bytes) - _bytes) / time * 1e6;
    }
}
