using System.Diagnostics;

namespace FastPort.TestHost.Impaired;

/// <summary>
/// One direction of a link: decides when each packet arrives, if it does, and counts. <see cref="Take"/> runs on the thread that reads,
/// <see cref="Deliver"/> under the link's lock.
/// </summary>
internal sealed class LinkDirection(TunDevice source, TunDevice target, LinkImpairment impairment, int seed)
{
    // The largest packet without the device's offloads is its MTU of 1,500.
    private const int MaxPacket = 2048;

    private readonly Random _random = new(seed);
    private readonly byte[] _buffer = new byte[MaxPacket];
    private long _taken;
    private long _newest = -1;
    private long _lost;
    private bool _spares;

    /// <summary>Whether no packet is lost for now.</summary>
    public bool Spares
    {
        get => Volatile.Read(ref _spares);
        set => Volatile.Write(ref _spares, value);
    }

    /// <summary>Packets that arrived.</summary>
    public long Forwarded { get; private set; }

    /// <summary>Packets that were lost by chance.</summary>
    public long Lost => Volatile.Read(ref _lost);

    /// <summary>Packets that arrived after one that was sent later.</summary>
    public long Reordered { get; private set; }

    /// <summary>Packets that found the link cut.</summary>
    public long CutOff { get; private set; }

    /// <summary>Waits for the next packet that is not lost; false when the network it comes from is gone.</summary>
    public bool Take(out LinkPacket packet)
    {
        while (source.Read(_buffer) is >= 0 and var size)
        {
            long read = Stopwatch.GetTimestamp();
            if (size == 0 || _buffer[0] >> 4 != 4)
            {
                // What IPv6 says by itself: nobody here uses it.
                continue;
            }

            // Always as many numbers per packet: what happened to the earlier ones does not change them.
            bool lost = _random.NextDouble() * 100 < impairment.LossPercent;
            bool late = _random.NextDouble() * 100 < impairment.LatePercent;
            double milliseconds = impairment.DelayMilliseconds + (_random.NextDouble() * (late ? LinkImpairment.MaxLateMilliseconds : 0));
            long number = _taken++;
            if (!lost || Spares)
            {
                long due = read + (long)Math.Ceiling(milliseconds * Stopwatch.Frequency / 1000);
                packet = new LinkPacket(this, number, due, _buffer.AsSpan(0, size).ToArray());
                return true;
            }

            Volatile.Write(ref _lost, _lost + 1);
        }

        packet = default;
        return false;
    }

    /// <summary>The packet is due.</summary>
    public void Deliver(in LinkPacket packet, bool isCut)
    {
        if (isCut)
        {
            CutOff++;
        }
        else if (target.TryWrite(packet.Bytes))
        {
            Forwarded++;
            Reordered += packet.Number < _newest ? 1 : 0;
            _newest = Math.Max(_newest, packet.Number);
        }
    }
}

/// <summary>A packet on its way.</summary>
/// <param name="Direction">Where it goes.</param>
/// <param name="Number">Its place among the packets of its direction.</param>
/// <param name="Due">When it arrives, as a time stamp of <see cref="Stopwatch"/>.</param>
/// <param name="Bytes">The packet.</param>
internal readonly record struct LinkPacket(LinkDirection Direction, long Number, long Due, byte[] Bytes);
