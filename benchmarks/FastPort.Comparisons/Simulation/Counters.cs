namespace FastPort.Comparisons.Simulation;

/// <summary>What was counted since the last <see cref="Reset"/>.</summary>
internal sealed class Counters
{
    public Latencies Relays { get; private set; } = new();

    public Latencies Claims { get; private set; } = new();

    public Latencies Renewals { get; private set; } = new();

    public Latencies Publications { get; private set; } = new();

    public long RelaysSent { get; set; }

    public long RelaysFailed { get; set; }

    public long ClaimsSent { get; set; }

    public long Batches { get; private set; }

    public long Entries { get; private set; }

    public double BatchSize => Batches == 0 ? 0 : (double)Entries / Batches;

    public void Batch(int entries)
    {
        Batches++;
        Entries += entries;
    }

    public void Reset()
    {
        Relays = new Latencies();
        Claims = new Latencies();
        Renewals = new Latencies();
        Publications = new Latencies();
        RelaysSent = RelaysFailed = ClaimsSent = Batches = Entries = 0;
    }
}
