namespace PeerSupport;

/// <summary>
/// Where the true median of a sample lies with 95 % probability, by order statistics: between the k-th smallest and the k-th largest value,
/// k by the normal approximation of the binomial distribution. Fewer than six values have no such interval; then it is their range.
/// </summary>
public static class MedianInterval
{
    private const double Normal95 = 1.96;

    /// <summary>The ends of the interval.</summary>
    /// <param name="values">The sample, not empty.</param>
    public static (double Low, double High) Of(IReadOnlyCollection<double> values)
    {
        double[] sorted = [.. values.Order()];
        int skipped = Math.Max(0, (int)((sorted.Length - (Normal95 * Math.Sqrt(sorted.Length))) / 2));
        return (sorted[skipped], sorted[^(skipped + 1)]);
    }
}
