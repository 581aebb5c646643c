using System.Diagnostics;

namespace FastPort.TestHost.Impaired;

/// <summary>
/// A link between two networks that loses, delays and reorders packets, as the kernel's netem does where there is one. A thread per
/// direction reads, one thread delivers; <see cref="_gate"/> guards the packets on their way and <see cref="_isCut"/>.
/// </summary>
internal sealed class ImpairedLink
{
    private readonly LinkDirection[] _directions;
    private readonly PriorityQueue<LinkPacket, (long Due, long Order)> _onTheirWay = new();
    private readonly AutoResetEvent _arrived = new(false);
    private readonly Lock _gate = new();
    private long _order;
    private bool _isCut;

    public ImpairedLink(TunDevice first, TunDevice second, LinkImpairment impairment) => _directions =
    [
        new LinkDirection(first, second, impairment, impairment.Seed),
        new LinkDirection(second, first, impairment, impairment.Seed + 1),
    ];

    public void Start()
    {
        foreach (LinkDirection direction in _directions)
        {
            new Thread(() => Receive(direction)) { IsBackground = true, Name = "link-read" }.Start();
        }

        new Thread(Deliver) { IsBackground = true, Name = "link-deliver" }.Start();
    }

    /// <summary>From now on no packet arrives, those on their way included, until the link is restored.</summary>
    public void Cut(bool isCut)
    {
        lock (_gate)
        {
            _isCut = isCut;
        }
    }

    /// <summary>From now on no packet is lost by chance, or some are again.</summary>
    public void Spare(bool spares)
    {
        foreach (LinkDirection direction in _directions)
        {
            direction.Spares = spares;
        }
    }

    /// <summary>The counts of both directions together, as figures.</summary>
    public string Counts()
    {
        lock (_gate)
        {
            return $"forwarded={_directions.Sum(static d => d.Forwarded)} lost={_directions.Sum(static d => d.Lost)} "
                + $"reordered={_directions.Sum(static d => d.Reordered)} cut={_directions.Sum(static d => d.CutOff)}";
        }
    }

    private void Receive(LinkDirection direction)
    {
        while (direction.Take(out LinkPacket packet))
        {
            lock (_gate)
            {
                _onTheirWay.Enqueue(packet, (packet.Due, _order++));
            }

            _arrived.Set();
        }
    }

    private void Deliver()
    {
        while (true)
        {
            _arrived.WaitOne(DeliverDue());
        }
    }

    // Returns the milliseconds until the next packet is due.
    private int DeliverDue()
    {
        lock (_gate)
        {
            while (_onTheirWay.TryPeek(out LinkPacket packet, out _))
            {
                long left = packet.Due - Stopwatch.GetTimestamp();
                if (left > 0)
                {
                    return (int)Math.Ceiling(left * 1000.0 / Stopwatch.Frequency);
                }

                _onTheirWay.Dequeue();
                packet.Direction.Deliver(in packet, _isCut);
            }

            return Timeout.Infinite;
        }
    }
}
