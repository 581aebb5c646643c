namespace FastPort.Comparisons.Reports;

/// <summary>Median of several runs, with the range they lay in.</summary>
internal sealed record Spread(double Median, double Min, double Max)
{
    /// <summary>The spread of at least one value.</summary>
    public static Spread Of(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        int middle = sorted.Length / 2;
        double median = sorted.Length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Spread(median, sorted[0], sorted[^1]);
    }
}
