namespace FastPortPeer.Soak;

/// <summary>What a load has sent, what came of it, and what was not as it should be. Thread-safe.</summary>
internal sealed class SoakAccount(string load)
{
    private const int KeptDeviations = 5;

    private readonly Lock _gate = new();
    private readonly List<string> _deviations = []; // guarded by _gate
    private long _sent;
    private long _arrived;
    private long _lost;
    private long _deviationCount;

    public void Sent(long messages = 1) => Interlocked.Add(ref _sent, messages);

    /// <summary>Messages that were answered, or have arrived where they should.</summary>
    public void Arrived(long messages = 1) => Interlocked.Add(ref _arrived, messages);

    /// <summary>Requests that failed because this load cut their connection: each was told so, exactly once.</summary>
    public void Lost() => Interlocked.Increment(ref _lost);

    public void Deviation(string what)
    {
        Interlocked.Increment(ref _deviationCount);
        lock (_gate)
        {
            if (_deviations.Count < KeptDeviations)
            {
                _deviations.Add(what);
            }
        }
    }

    /// <summary>Closes the account once nothing is under way any more: every message is accounted for, or it is a deviation.</summary>
    public void Print()
    {
        if (_sent != _arrived + _lost)
        {
            Deviation($"{_sent} messages were sent, {_arrived} have arrived and {_lost} were lost with a connection that was cut.");
        }

        lock (_gate)
        {
            SoakLine.Print(new
            {
                Kind = "account",
                Load = load,
                Sent = _sent,
                Arrived = _arrived,
                Lost = _lost,
                DeviationCount = _deviationCount,
                Deviations = _deviations,
            });
        }
    }
}
