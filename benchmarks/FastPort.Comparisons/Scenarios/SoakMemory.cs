using System.Globalization;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Samples of a process's memory, and whether they are flat.</summary>
internal sealed class SoakMemory(string process)
{
    /// <summary>What counts as flat.</summary>
    public const string Rule =
        "Memory is flat where the median of the last quarter is at most 10 % and 24 MB (resident) or 16 MB (managed heap, after a "
        + "collection) above that of the second quarter.";

    private const double Factor = 1.10;

    // Two of the largest rings: the array pool keeps one a thread, and a thread may come late.
    private const double HeapAllowance = 16 * 1024 * 1024;
    private const double RssAllowance = 24 * 1024;
    private const int FewestSamples = 8;

    private readonly List<double> _rssKb = [];
    private readonly List<double> _heapBytes = [];

    public void Add(long rssKb, long heapBytes)
    {
        _rssKb.Add(rssKb);
        _heapBytes.Add(heapBytes);
    }

    public IEnumerable<string> Deviations()
    {
        if (_rssKb.Count < FewestSamples)
        {
            yield return $"{process}: {_rssKb.Count} samples of memory are too few to judge by";
            yield break;
        }

        if (Grows(_rssKb, RssAllowance))
        {
            yield return $"{process}: resident memory grew from {Megabytes(Early(_rssKb) * 1024)} to {Megabytes(Late(_rssKb) * 1024)} MB";
        }

        if (Grows(_heapBytes, HeapAllowance))
        {
            yield return $"{process}: the managed heap grew from {Megabytes(Early(_heapBytes))} to {Megabytes(Late(_heapBytes))} MB";
        }
    }

    public IReadOnlyList<string> Row() => _rssKb.Count < FewestSamples
        ? [process, "too few samples", Count(), "-", "-", "-", "-"]
        :
        [
            process,
            Deviations().Any() ? "grows" : "flat",
            Count(),
            Megabytes(Early(_rssKb) * 1024),
            Megabytes(Late(_rssKb) * 1024),
            Megabytes(Early(_heapBytes)),
            Megabytes(Late(_heapBytes)),
        ];

    private static bool Grows(List<double> samples, double allowance) => Late(samples) > (Early(samples) * Factor) + allowance;

    private static double Early(List<double> samples) => Spread.Of(samples.Skip(samples.Count / 4).Take(samples.Count / 4)).Median;

    private static double Late(List<double> samples) => Spread.Of(samples.TakeLast(samples.Count / 4)).Median;

    private static string Megabytes(double bytes) => (bytes / (1024 * 1024)).ToString("N1", CultureInfo.InvariantCulture);

    private string Count() => _rssKb.Count.ToString(CultureInfo.InvariantCulture);
}
