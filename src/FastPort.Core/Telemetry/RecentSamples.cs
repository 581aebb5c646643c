
namespace FastPort.Telemetry;

/// <summary>Keeps the most recent samples individually, for exact figures of a recent window and for dumps. Thread-safe.</summary>
/// <remarks>
/// <para>
/// Writers fill a batch of 32 samples per processor and move a full batch to the shared ring, so threads contend only once in 32 samples.
/// The ring has room for the batches of all processors beyond <see cref="Capacity"/>, and a read sorts the samples by timestamp: it returns
/// exactly the latest ones.
/// </para>
/// <para>
/// Memory: 40 bytes per sample: (capacity + 32 x processors) in the ring, allocated when the first batch is full, and a batch per processor
/// that recorded.
/// </para>
/// </remarks>
internal sealed class RecentSamples
{
    private const int BatchLength = 32;

    // Samples that a reader copies at a time: some microseconds, for which writers spin.
    private const int PieceLength = 1024;

    private readonly StripeSet<SampleBatch>? _batches;

    // Guards the ring. Taken while a batch is held, never the reverse. Held only for a copy, and released by a plain store: a Lock's
    // release would wait for the copied bytes to reach the ring's cache lines, which are usually not in the cache.
    private readonly RingFlag _ringFlag = new();
    private LatencySample[]? _ring;

    // Number of samples ever written, and its value at the last Clear.
    private long _written;
    private long _forgotten;

    /// <summary>Creates an empty ring.</summary>
    /// <param name="capacity">Maximum number of samples, 0 to 10,000,000; 0 keeps none and costs nothing.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is out of range.</exception>
    public RecentSamples(int capacity)
        : this(capacity, stripes: 0)
    {
    }

    /// <summary>As the public constructor, with a number of stripes that does not depend on the machine.</summary>
    internal RecentSamples(int capacity, int stripes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(capacity);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(capacity, LatencyStatsOptions.MaxSamplesLimit);
        Capacity = capacity;
        _batches = capacity == 0 ? null : new StripeSet<SampleBatch>(static () => new SampleBatch(BatchLength), stripes);
    }

    /// <summary>Maximum number of samples kept.</summary>
    public int Capacity { get; }

    /// <summary>Keeps a sample; if the ring is full, it replaces the oldest one.</summary>
    /// <param name="sample">The sample; reads sort the samples by timestamp.</param>
    public void Record(in LatencySample sample)
    {
        if (_batches is not null)
        {
            Record(sample, _batches.Home);
        }
    }

    /// <summary>
    /// Keeps a sample for each of several messages that were handled one after the other; <see cref="LatencySeries"/> explains the
    /// parameters.
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

    /// <summary>Keeps a sample in one stripe.</summary>
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

    /// <summary>The latest samples, at most <see cref="Capacity"/>, oldest first.</summary>
    /// <param name="since">Only samples with this timestamp or a later one. Defaults to all.</param>
    /// <returns>A new array that the caller owns.</returns>
    public LatencySample[] ToArray(long since = long.MinValue) => ToArray(since, afterPiece: null);

    /// <summary>As the public method, with a callback after each copied piece, while no lock is held.</summary>
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

    /// <summary>Removes all samples recorded so far.</summary>
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

    // Copies piece by piece, so that a writer waits for at most one piece and never for an allocation. The reader copies faster than
    // writers add, so it catches up: it starts with the oldest sample and ends with the newest.
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
                    // This is the first piece, or writers or a Clear have overtaken the reader: the copied samples are obsolete.
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

    // The caller holds the batch.
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
