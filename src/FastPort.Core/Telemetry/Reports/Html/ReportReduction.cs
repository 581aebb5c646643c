namespace FastPort.Telemetry.Reports.Html;

/// <summary>Limits the size of a page: neighbors of a distribution are merged until they are few enough.</summary>
internal static class ReportReduction
{
    /// <summary>Values of one distribution.</summary>
    internal const int MaxHistogramValues = 3000;

    /// <summary>Numbers of the heat map, two for each cell.</summary>
    internal const int MaxHeatNumbers = 60_000;

    internal static ReportData Reduce(ReportData data) => data with
    {
        Latencies = [.. data.Latencies.Select(static latency => latency with { Histogram = Reduce(latency.Histogram) })],
        Timeline = Reduce(data.Timeline),
    };

    // A merged pair is shown at its higher value, so that no percentile is shown too low.
    private static ReportHistogram? Reduce(ReportHistogram? histogram)
    {
        while (histogram is { Us.Length: > MaxHistogramValues })
        {
            int half = (histogram.Us.Length + 1) / 2;
            var merged = new ReportHistogram(new double[half], new long[half]);
            for (int i = 0; i < histogram.Us.Length; i++)
            {
                merged.Us[i / 2] = histogram.Us[i];
                merged.Counts[i / 2] += histogram.Counts[i];
            }

            histogram = merged;
        }

        return histogram;
    }

    private static ReportTimeline? Reduce(ReportTimeline? timeline)
    {
        while (timeline is { RowsPerOctave: > 1, Heat: { } heat } && heat.Sum(static column => column.Length) > MaxHeatNumbers)
        {
            timeline = timeline with
            {
                RowsPerOctave = timeline.RowsPerOctave / 2,
                Heat = Array.ConvertAll(heat, HalveRows),
            };
        }

        return timeline;
    }

    private static long[] HalveRows(long[] column)
    {
        List<long> halved = [];
        for (int i = 0; i + 1 < column.Length; i += 2)
        {
            long row = column[i] / 2;
            if (halved.Count > 0 && halved[^2] == row)
            {
                halved[^1] += column[i + 1];
            }
            else
            {
                halved.AddRange([row, column[i + 1]]);
            }
        }

        return [.. halved];
    }
}
