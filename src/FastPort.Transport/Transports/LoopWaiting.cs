namespace FastPort.Transports;

/// <summary>
/// Decides how long a loop (an event loop's thread, or the pump of an in-process link) spins before it sleeps. Adaptive unless configured:
/// the loop spins while the last waits were short enough for spinning to be worthwhile, and stops after a few that were not. Belongs to one
/// loop; only the number of spinners is shared by the process.
/// </summary>
internal sealed class LoopWaiting
{
    private const int AdaptiveMicroseconds = 50;

    // A short wait adds one, a long one subtracts two: only a steady load gets a core for spinning, and little is wasted when the load
    // ends.
    private const int MaxScore = 16;
    private const int SpinFromScore = 8;

    // One spinner fewer than there are cores: one core must be left for the work that the spinners wait for.
    private static readonly int MaxSpinners = Environment.ProcessorCount - 1;
    private static readonly Spinners OfProcess = new();

    private readonly TimeProvider _time;
    private readonly int _maxSpinners;
    private readonly Spinners _spinners;
    private readonly long _spinTicks;
    private int _score;
    private long _since;
    private long _spins;

    public LoopWaiting(int? spinMicroseconds)
        : this(spinMicroseconds, TimeProvider.System, MaxSpinners, OfProcess)
    {
    }

    internal LoopWaiting(int? spinMicroseconds, TimeProvider time, int maxSpinners, Spinners spinners)
    {
        _spinners = spinners;
        _time = time;
        _maxSpinners = maxSpinners;
        SpinMicroseconds = spinMicroseconds;
        _spinTicks = (long)((spinMicroseconds ?? AdaptiveMicroseconds) * (time.TimestampFrequency / 1e6));
    }

    /// <summary>The configured value; null: adaptive.</summary>
    public int? SpinMicroseconds { get; }

    /// <summary>Whether waits are timed: not if spinning is switched off or can never be allowed.</summary>
    private bool IsActive => _spinTicks > 0 && (SpinMicroseconds is not null || _maxSpinners > 0);

    /// <summary>How often the loop has spun before or instead of sleeping.</summary>
    public long Spins => Volatile.Read(ref _spins);

    /// <summary>There is nothing to do: looks for work until there is some or it is time to sleep, if the loop may spin at all.</summary>
    /// <param name="look">Looks for work, for about a microsecond.</param>
    /// <returns>Whether a look was successful.</returns>
    public bool Spin(Func<bool> look)
    {
        if (!IsActive)
        {
            return false;
        }

        _since = _time.GetTimestamp();
        if (SpinMicroseconds is not null)
        {
            _spinners.Enter();
        }
        else if (_score < SpinFromScore || !_spinners.TryEnter(_maxSpinners))
        {
            return false;
        }

        _spins++;
        bool found;
        do
        {
            found = look();
        }
        while (!found && _time.GetTimestamp() - _since < _spinTicks);
        _spinners.Leave();
        return found;
    }

    /// <summary>The wait that began with <see cref="Spin"/> has ended: there is work.</summary>
    public void Woken()
    {
        if (SpinMicroseconds is null && IsActive)
        {
            bool wasShort = _time.GetTimestamp() - _since < _spinTicks;
            _score = wasShort ? Math.Min(_score + 1, MaxScore) : Math.Max(_score - 2, 0);
        }
    }

    /// <summary>
    /// The current number of spinners. A loop configured to spin is never refused but counted, so that other loops leave it a core.
    /// Thread-safe.
    /// </summary>
    internal sealed class Spinners
    {
        private int _count;

        public void Enter() => Interlocked.Increment(ref _count);

        public bool TryEnter(int maximum)
        {
            if (Interlocked.Increment(ref _count) <= maximum)
            {
                return true;
            }

            Interlocked.Decrement(ref _count);
            return false;
        }

        public void Leave() => Interlocked.Decrement(ref _count);
    }
}
