using System.Diagnostics;
using System.Globalization;

namespace OpcUaPeer.Loads;

/// <summary>The rate so far, as a line every 2 s, in the form of open62541's example. Used by one worker.</summary>
internal sealed class RateLines(int bytesPerRequest)
{
    private const double Mebi = 1 << 20;
    private const int Every = 2;

    private long _begun;
    private long _bytes;
    private double _next;

    public void Begin() => (_begun, _bytes, _next) = (Stopwatch.GetTimestamp(), 0, Every);

    /// <summary>A request has ended.</summary>
    public void Count(long now)
    {
        _bytes += bytesPerRequest;
        double seconds = Stopwatch.GetElapsedTime(_begun, now).TotalSeconds;
        if (seconds >= _next)
        {
            Console.WriteLine(Line(_bytes, seconds));
            _next = (Math.Floor(seconds / Every) + 1) * Every;
        }
    }

    private static string Line(long bytes, double seconds)
    {
        double rate = bytes / Mebi / seconds;
        return string.Create(
            CultureInfo.InvariantCulture,
            $"Rate = {rate * 8:F3} Mebibit/s = {rate:F3} Mebibyte/s Total Size = {bytes / Mebi:F0}MiB, Time = {seconds:F0} s");
    }
}
