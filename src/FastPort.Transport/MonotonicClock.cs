using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace FastPort;

/// <summary>The clock of timing blocks and latencies: monotonic, in nanoseconds, with an arbitrary origin.</summary>
internal static class MonotonicClock
{
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    public static long Nanoseconds
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Stopwatch.Frequency == 1_000_000_000 ? Stopwatch.GetTimestamp() : (long)(Stopwatch.GetTimestamp() * NanosecondsPerTick);
    }

    /// <summary>A reading in the system clock's own ticks, as <see cref="TimeProvider.GetTimestamp"/> gives them.</summary>
    public static long ToTimestamp(long nanoseconds) =>
        Stopwatch.Frequency == 1_000_000_000 ? nanoseconds : (long)(nanoseconds / NanosecondsPerTick);
}
