namespace FastPort.Telemetry;

/// <summary>
/// Histograms of the parts of one measurement, recorded together by several threads, with an interval and a lifetime of each.
/// </summary>
/// <remarks>
/// A writer owns the active histograms of the stripe that it entered. A reader, under <see cref="_readers"/>, exchanges each stripe's
/// active histograms for empty ones and merges them into interval and lifetime. So no value is lost, counted twice or read half written,
/// and a writer waits at most for an exchange of references.
/// </remarks>
internal sealed class HistogramStripes
{
    private readonly StripeSet<HistogramStripe> _stripes;
    private readonly int _width;
    private readonly int _coarseness;

    // Guards the three sets below, and so the order of intervals.
    private readonly Lock _readers = new();
    private LatencyHistogram[]? _spare;
    private LatencyHistogram[]? _interval;
    private LatencyHistogram[]? _lifetime;

    /// <param name="width">Histograms recorded together.</param>
    /// <param name="stripes">Maximum number of stripes, a power of two; 0 for one per processor.</param>
    /// <param name="coarseness">0, or <see cref="LatencyBuckets.Coarse"/>. Defaults to 0.</param>
    internal HistogramStripes(int width, int stripes, int coarseness = 0)
    {
        _width = width;
        _coarseness = coarseness;
        _stripes = new StripeSet<HistogramStripe>(() => new HistogramStripe(NewSet()), stripes);
    }

    internal int Width => _width;

    /// <summary>Takes a stripe to record into; release it with <see cref="Stripe.Exit"/>.</summary>
    internal HistogramStripe Enter() => _stripes.Enter();

    /// <summary>Interval and lifetime of each histogram; the interval continues.</summary>
    internal (LatencySnapshot Interval, LatencySnapshot Lifetime)[] Read()
    {
        lock (_readers)
        {
            Drain();
            return SnapshotAll();
        }
    }

    /// <summary>Interval and lifetime of each histogram; a new interval begins.</summary>
    internal (LatencySnapshot Interval, LatencySnapshot Lifetime)[] Cut()
    {
        lock (_readers)
        {
            Drain();
            var all = SnapshotAll();
            ResetAll(_interval);
            return all;
        }
    }

    /// <summary>Removes all values recorded so far.</summary>
    internal void Reset()
    {
        lock (_readers)
        {
            Drain();
            ResetAll(_interval);
            ResetAll(_lifetime);
        }
    }

    /// <summary>Adds the values of a histogram; no thread may write to it during the call.</summary>
    internal void Merge(int index, LatencyHistogram other)
    {
        lock (_readers)
        {
            _interval ??= NewSet();
            _lifetime ??= NewSet();
            _interval[index].Merge(other);
            _lifetime[index].Merge(other);
        }
    }

    private static void ResetAll(LatencyHistogram[]? set)
    {
        foreach (var histogram in set ?? [])
        {
            histogram.Reset();
        }
    }

    private (LatencySnapshot Interval, LatencySnapshot Lifetime)[] SnapshotAll()
    {
        var all = new (LatencySnapshot, LatencySnapshot)[_width];
        for (var i = 0; i < all.Length; i++)
        {
            all[i] = (_interval?[i].Snapshot() ?? LatencySnapshot.Empty, _lifetime?[i].Snapshot() ?? LatencySnapshot.Empty);
        }

        return all;
    }

    // Called under _readers.
    private void Drain()
    {
        for (var i = 0; i < _stripes.Capacity; i++)
        {
            var stripe = _stripes[i];
            if (stripe is null)
            {
                continue;
            }

            _spare ??= NewSet();
            stripe.Enter();
            var taken = stripe.Active;
            var idle = Array.TrueForAll(taken, static histogram => histogram.Count == 0);
            if (!idle)
            {
                stripe.Active = _spare;
            }

            stripe.Exit();
            if (idle)
            {
                continue;
            }

            // The taken set is reset and becomes the next stripe's active set: one spare set is enough for all stripes and keeps its
            // arrays.
            _interval ??= NewSet();
            _lifetime ??= NewSet();
            for (var h = 0; h < taken.Length; h++)
            {
                _interval[h].Merge(taken[h]);
                _lifetime[h].Merge(taken[h]);
                taken[h].Reset();
            }

            _spare = taken;
        }
    }

    private LatencyHistogram[] NewSet()
    {
        var set = new LatencyHistogram[_width];
        for (var i = 0; i < set.Length; i++)
        {
            set[i] = new LatencyHistogram(_coarseness);
        }

        return set;
    }
}

/// <summary>The histograms that one processor writes.</summary>
internal sealed class HistogramStripe(LatencyHistogram[] active) : Stripe
{
    /// <summary>Accessed only by the thread that holds the stripe.</summary>
    internal LatencyHistogram[] Active { get; set; } = active;
}
