using System.Text.Json;

namespace OpcUaPeer.Ticks;

/// <summary>What a repetition has measured. Times are in microseconds.</summary>
/// <param name="Ticks">Ticks there were.</param>
/// <param name="Missed">Those at which the requests of the one before were still under way.</param>
/// <param name="Errors">Those of which a request failed or was answered wrongly.</param>
/// <param name="FirstError">What the first of them was.</param>
internal sealed record TickFigures(int Ticks, int Missed, int Errors, string? FirstError)
{
    private static readonly JsonSerializerOptions Format = new() { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };

    public required IReadOnlyList<double> Drifts { get; init; }

    public required IReadOnlyList<double> Reads { get; init; }

    public required IReadOnlyList<double> Writes { get; init; }

    public required int ReadTags { get; init; }

    public required int WriteTags { get; init; }

    /// <summary>From the first analysed tick to its last answer.</summary>
    public required double Seconds { get; init; }

    /// <summary>As a line of JSON, with the names of FastPort.Comparisons's TickResult.</summary>
    public string ToLine(ProcessSamples samples)
    {
        (Order drifts, Order reads, Order writes) = (new(Drifts), new(Reads), new(Writes));
        return JsonSerializer.Serialize(
            new
            {
                Ticks,
                MissedTicks = Missed,
                Errors,
                FirstError,
                ReadTagsPerS = Seconds > 0 ? Reads.Count * ReadTags / Seconds : 0,
                WriteTagsPerS = Seconds > 0 ? Writes.Count * WriteTags / Seconds : 0,
                ReadP50Us = reads.At(0.50),
                ReadP95Us = reads.At(0.95),
                ReadP99Us = reads.At(0.99),
                ReadMaxUs = reads.At(1),
                ReadCv = reads.Variation,
                WriteP50Us = writes.At(0.50),
                WriteP95Us = writes.At(0.95),
                WriteP99Us = writes.At(0.99),
                WriteMaxUs = writes.At(1),
                DriftMeanUs = drifts.Mean,
                DriftP95Us = drifts.At(0.95),
                DriftMaxUs = drifts.At(1),
                CpuAverage = samples.CpuAverage,
                CpuP95 = new Order(samples.CpuShares).At(0.95),
                RssMaxBytes = samples.RssMax,
                RssGrowthBytes = samples.RssGrowth,
                HeapMaxBytes = samples.HeapMax,
                GcPauseMs = samples.Pauses.TotalMilliseconds,
            },
            Format);
    }

    /// <summary>Values in order; what there is not is null.</summary>
    private sealed class Order(IReadOnlyList<double> values)
    {
        private readonly double[] _sorted = [.. values.Order()];

        public double? Mean => _sorted.Length == 0 ? null : _sorted.Average();

        /// <summary>Standard deviation divided by mean.</summary>
        public double? Variation => Mean is { } mean && mean > 0
            ? Math.Sqrt(_sorted.Sum(value => (value - mean) * (value - mean)) / _sorted.Length) / mean
            : null;

        /// <summary>The smallest value that so large a part does not exceed.</summary>
        public double? At(double part) =>
            _sorted.Length == 0 ? null : _sorted[Math.Max(0, (int)Math.Ceiling(part * _sorted.Length) - 1)];
    }
}
