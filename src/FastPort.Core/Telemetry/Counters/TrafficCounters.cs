using System.Runtime.InteropServices;

namespace FastPort.Telemetry;

/// <summary>
/// Messages and bytes in both directions, relays and publications, in one cell per processor, so that processors do not share a cache line.
/// </summary>
internal sealed class TrafficCounters
{
    private readonly Cell[] _cells = new Cell[StripeSet<HistogramStripe>.DefaultCount];

    internal void AddReceived(long messages, long bytes)
    {
        ref var cell = ref Mine();
        Interlocked.Add(ref cell.MessagesIn, messages);
        Interlocked.Add(ref cell.BytesIn, bytes);
    }

    internal void AddSent(long messages, long bytes)
    {
        ref var cell = ref Mine();
        Interlocked.Add(ref cell.MessagesOut, messages);
        Interlocked.Add(ref cell.BytesOut, bytes);
    }

    internal void AddRelayed() => Interlocked.Increment(ref Mine().Relayed);

    internal void AddPublished(long deliveries)
    {
        ref var cell = ref Mine();
        Interlocked.Increment(ref cell.Published);
        Interlocked.Add(ref cell.Delivered, deliveries);
    }

    internal Cell Sum()
    {
        var sum = default(Cell);
        foreach (ref var cell in _cells.AsSpan())
        {
            sum.MessagesIn += Interlocked.Read(ref cell.MessagesIn);
            sum.BytesIn += Interlocked.Read(ref cell.BytesIn);
            sum.MessagesOut += Interlocked.Read(ref cell.MessagesOut);
            sum.BytesOut += Interlocked.Read(ref cell.BytesOut);
            sum.Relayed += Interlocked.Read(ref cell.Relayed);
            sum.Published += Interlocked.Read(ref cell.Published);
            sum.Delivered += Interlocked.Read(ref cell.Delivered);
        }

        return sum;
    }

    // The thread may move to another processor before it adds. The additions are interlocked, so this costs only speed.
    private ref Cell Mine() => ref _cells[Thread.GetCurrentProcessorId() & (_cells.Length - 1)];

    // Two cache lines: processors fetch them in pairs.
    [StructLayout(LayoutKind.Sequential, Size = 128)]
    internal struct Cell
    {
        internal long MessagesIn;
        internal long BytesIn;
        internal long MessagesOut;
        internal long BytesOut;
        internal long Relayed;
        internal long Published;
        internal long Delivered;
    }
}
