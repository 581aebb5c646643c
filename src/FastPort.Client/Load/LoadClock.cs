using System.Diagnostics;

namespace FastPort.Client.Load;

/// <summary>The monotonic clock of requests and replies, in nanoseconds.</summary>
internal static class LoadClock
{
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    public static long Nanoseconds =>
        Stopwatch.Frequency == 1_000_000_000 ? Stopwatch.GetTimestamp() : (long)(Stopwatch.GetTimestamp() * NanosecondsPerTick);
}
