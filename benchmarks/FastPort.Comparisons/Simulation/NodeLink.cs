namespace FastPort.Comparisons.Simulation;

/// <summary>
/// The way from one node to another: what gathers while a publication is under way is the next batch. Without the window, which only
/// senders that are faster than the other node would see.
/// </summary>
internal sealed class NodeLink(SimulatedNode from, SimulatedNode to)
{
    private const int HeaderBytes = 20;

    private List<Entry> _gathering = [];
    private bool _isSending;

    public void Add(Entry entry)
    {
        _gathering.Add(entry);
        if (!_isSending)
        {
            _isSending = true;
            from.InSender(Send);
        }
    }

    private void Send()
    {
        List<Entry> batch = _gathering;
        _gathering = [];
        int bytes = HeaderBytes;
        foreach (Entry entry in batch)
        {
            bytes += entry.Bytes;
        }

        from.Network.Counters.Batch(batch.Count);
        from.Network.Publish(from, to, bytes, delivered: () => Arrive(batch), answered: () => from.InSender(Continue));
    }

    // What is for one session is written to its socket at once.
    private double CostOf(List<Entry> batch)
    {
        int sockets = batch.Count == 1 ? Math.Min(batch[0].Session, 1)
            : batch.Select(static entry => entry.Session).Where(static session => session != 0).Distinct().Count();
        return batch.Sum(static entry => entry.Cost) + (sockets * from.Network.Costs.Socket);
    }

    private void Continue()
    {
        _isSending = _gathering.Count > 0;
        if (_isSending)
        {
            Send();
        }
    }

    private void Arrive(List<Entry> batch)
    {
        if (!to.IsUp)
        {
            batch.ForEach(static entry => entry.Lost?.Invoke());
            return;
        }

        to.InReceiver(CostOf(batch), () =>
        {
            bool needsSeen = false;
            foreach (Entry entry in batch)
            {
                needsSeen |= entry.NeedsSeen;
                entry.Arrived?.Invoke();
            }

            if (needsSeen)
            {
                to.LinkTo(from).Add(Entry.Seen);
            }
        });
    }
}

/// <summary>A part of a batch.</summary>
/// <param name="Bytes">Its length.</param>
/// <param name="Cost">CPU time of the node that it arrives at.</param>
internal sealed record Entry(int Bytes, double Cost)
{
    public static readonly Entry Seen = new(13, 0);

    /// <summary>The session whose socket it is written to; 0 for none.</summary>
    public int Session { get; init; }

    public Action? Arrived { get; init; }

    /// <summary>The node that it was for is not there any more.</summary>
    public Action? Lost { get; init; }

    public bool NeedsSeen { get; init; }
}
