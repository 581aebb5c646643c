using FastPort.Telemetry.Histograms;

namespace FastPort.Telemetry;

/// <summary>Keeps the most recent samples one by one, for exact figures of a recent window and for dumps. Thread-safe.</summary>
/// <remarks>
/// <para>Writers fill a batch of 32 samples per processor and move it to the shared ring when it is full: threads meet once in 32 samples.
/// Batches reach the ring late by at most their own length; the ring has room for all of them beyond <see cref="Capacity"/>,
/// and a read puts samples in the order of their timestamps: what it returns are exactly the latest ones.</para>
/// <para>Memory: 40 bytes per sample: (capacity + 32 x processors) in the ring, made when the first batch is full, and a batch per
/// processor that recorded.</para>
/// </remarks>
public sealed class RecentSamples
{
    private const int BatchLength = 32;

    // Samples copied at a time by a reader: some microseconds, which writers can spin for.
    private const int PieceLength = 1024;

    private readonly StripeSet<SampleBatch>? _batches;

    // Guards the ring. Taken while a batch is held, never the other way round. Held for a copy only, and given back by a plain store: a
    // lock would wait until the ring's lines, which are in no cache any more, have taken what was copied.
    private readonly RingFlag _ringFlag = new();
    private LatencySample[]? _ring;

    // How many samples were written since the beginning, and how many of those were dropped.
    private long _written;
    private long _forgotten;

    /// <summary>Makes an empty ring.</summary>
    /// <param name="capacity">Samples kept, 0 to 10,000,000; 0 keeps none and costs nothing.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is out of range.</exception>
    public RecentSamples(int capacity)
        : this(capacity, stripes: 0)
    {
    }

    /// <summary>As the public one, with a number of stripes that does not depend on the machine.</summary>
    internal RecentSamples(int capacity, int stripes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(capacity);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(capacity, LatencyStatsOptions.MaxSamplesLimit);
        Capacity = capacity;
        _batches = capacity == 0 ? null : new StripeSet<SampleBatch>(static () => new SampleBatch(BatchLength), stripes);
    }

    /// <summary>Samples kept at most.</summary>
    public int Capacity { get; }

    /// <summary>Keeps a sample, in place of the oldest one when the ring is full.</summary>
    /// <param name="sample">The sample; samples are ordered by their timestamps.</param>
    public void Record(in LatencySample sample)
    {
        if (_batches is not null)
        {
            Record(sample, _batches.Home);
        }
    }

    /// <summary>
    /// Keeps a sample for each of several messages that were handled one after the other; <see cref="LatencySeries"/> says what they mean.
    /// </summary>
    internal void RecordHandled(ushort messageType, long received, long began, ReadOnlySpan<long> ends)
    {
        if (_batches is null)
        {
            return;
        }

        var batch = _batches.Enter();
        try
        {
            while (!ends.IsEmpty)
            {
                var free = batch.Samples.AsSpan(batch.Count);
                var count = Math.Min(ends.Length, free.Length);
                for (var i = 0; i < count; i++)
                {
                    var end = ends[i];
                    free[i] = new LatencySample(
                        MonotonicClock.ToTimestamp(end), messageType, end - received, began - received, end - began);
                    began = end;
                }

                batch.Count += count;
                ends = ends[count..];
                if (batch.Count == BatchLength)
                {
                    MoveToRing(batch);
                }
            }
        }
        finally
        {
            batch.Exit();
        }
    }

    /// <summary>Keeps a sample through one stripe.</summary>
    internal void Record(in LatencySample sample, int stripe)
    {
        var batch = _batches!.Enter(stripe);
        try
        {
            batch.Samples[batch.Count++] = sample;
            if (batch.Count == BatchLength)
            {
                MoveToRing(batch);
            }
        }
        finally
        {
            batch.Exit();
        }
    }

    /// <summary>The samples kept, oldest first: the last <see cref="Capacity"/> of all recorded.</summary>
    /// <param name="since">Only samples with this timestamp or a later one. Defaults to all.</param>
    /// <returns>A new array that the caller owns.</returns>
    public LatencySample[] ToArray(long since = long.MinValue) => ToArray(since, afterPiece: null);

    /// <summary>As the public one, with something to be done after each piece that was copied, while nothing is held.</summary>
    internal LatencySample[] ToArray(long since, Action? afterPiece)
    {
        if (_batches is null)
        {
            return [];
        }

        ForEachBatch(MoveToRing);
        var samples = CopyRing(afterPiece);
        Array.Sort(Array.ConvertAll(samples, static sample => sample.Timestamp), samples);
        var from = Math.Max(0, samples.Length - Capacity);
        while (from < samples.Length && samples[from].Timestamp < since)
        {
            from++;
        }

        return from == 0 ? samples : samples[from..];
    }

    /// <summary>Forgets all samples recorded up to now.</summary>
    public void Clear()
    {
        if (_batches is null)
        {
            return;
        }

        ForEachBatch(static batch => batch.Count = 0);
        _ringFlag.Enter();
        _forgotten = _written;
        _ringFlag.Exit();
    }

    // Copied piece by piece, so that a writer waits for one piece at most and never for an allocation. The reader copies more at a time
    // than writers add, so it catches up: it begins with the oldest sample and ends with the newest.
    private LatencySample[] CopyRing(Action? afterPiece)
    {
        LatencySample[] copy = [];
        var count = 0;
        var position = 0L;
        while (true)
        {
            int left;
            _ringFlag.Enter();
            try
            {
                if (_ring is null)
                {
                    return [];
                }

                var oldest = Math.Max(_forgotten, _written - _ring.Length);
                if (position < oldest)
                {
                    // The first piece, or writers or a Clear have overtaken: what was copied is older than what they have left.
                    position = oldest;
                    count = 0;
                }

                var start = (int)(position % _ring.Length);
                var piece = (int)Math.Min(Math.Min(PieceLength, _written - position), Math.Min(_ring.Length - start, copy.Length - count));
                _ring.AsSpan(start, piece).CopyTo(copy.AsSpan(count));
                count += piece;
                position += piece;
                left = (int)(_written - position);
            }
            finally
            {
                _ringFlag.Exit();
            }

            if (left == 0)
            {
                return copy.AsSpan(0, count).ToArray();
            }

            if (count == copy.Length)
            {
                Array.Resize(ref copy, count + left + PieceLength);
            }

            afterPiece?.Invoke();
        }
    }

    private void ForEachBatch(Action<SampleBatch> action)
    {
        for (var i = 0; i < _batches!.Capacity; i++)
        {
            if (_batches[i] is { } batch)
            {
                batch.Enter();
                try
                {
                    action(batch);
                }
                finally
                {
                    batch.Exit();
                }
            }
        }
    }

    // Called while the batch is held.
    private void MoveToRing(SampleBatch batch)
    {
        _ringFlag.Enter();
        try
        {
            _ring ??= new LatencySample[Capacity + (BatchLength * _batches!.Capacity)];
            var next = (int)(_written % _ring.Length);
            var first = Math.Min(batch.Count, _ring.Length - next);
            batch.Samples.AsSpan(0, first).CopyTo(_ring.AsSpan(next));
            batch.Samples.AsSpan(first, batch.Count - first).CopyTo(_ring);
            _written += batch.Count;
        }
        finally
        {
            _ringFlag.Exit();
        }

        batch.Count = 0;
    }

    private sealed class RingFlag : Stripe;

    private sealed class SampleBatch(int length) : Stripe
    {
        internal LatencySample[] Samples { get; } = new LatencySample[length];

        internal int Count { get; set; }
    }
}
