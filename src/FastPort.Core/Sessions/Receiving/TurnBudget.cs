namespace FastPort.Sessions.Receiving;

/// <summary>
/// Limits what one session may do before the other connections of its loop have their turn: a number of frames and a time, summed over
/// bursts, because a turn may have several bursts. Without it, one peer with a full receive ring would delay all connections of its loop.
/// Also tells when the replies of a burst have waited long enough for others. Loop only; a mutable struct.
/// </summary>
internal struct TurnBudget()
{
    /// <summary>Frames per turn, of any kind. A publication counts as one frame for each session that it is sent to.</summary>
    public const int Frames = 2048;

    /// <summary>Time per turn. A burst of 64 KiB of typed 64-byte echoes takes a fifth of it.</summary>
    public const long Nanoseconds = 1_000_000;

    // How long replies wait for others of their burst: a few times what a system call takes.
    private const long RepliesWaitNanoseconds = 20_000;

    // Control frames and unmeasured handlers produce no clock reading, so the clock is read once per this number of frames; after frames
    // that took less than ShortNanoseconds each, once per the larger number.
    private const int FramesPerReading = 16;
    private const int ShortFramesPerReading = 64;
    private const long ShortNanoseconds = 250;

    private int _frames = Frames;
    private long _nanoseconds = Nanoseconds;
    private long _endsAt;
    private long _repliesDue;
    private long _lastReading;

    // What most frames are compared with: the number of frames left at which the clock is read, and the earlier one of the two times.
    private int _framesAtReading;
    private int _framesPerReading;
    private long _nextTime;

    /// <summary>Whether the turn is over, as of the last <see cref="Look"/>.</summary>
    public readonly bool IsOver => _frames <= 0 || _lastReading >= _endsAt;

    /// <summary>Whether the replies have waited long enough, as of the last <see cref="Look"/>.</summary>
    public readonly bool AreRepliesDue => _lastReading >= _repliesDue;

    public void BeginBurst(long now)
    {
        _lastReading = now;
        _endsAt = now + _nanoseconds;
        ReadAfter(FramesPerReading);
        RepliesSent(now);
    }

    /// <summary>Subtracts the additional work of one frame from the budget.</summary>
    public void Spend(int frames) => _frames -= frames;

    /// <summary>Counts one handled frame; true if something may be due: call <see cref="Look"/>.</summary>
    /// <param name="reading">The newest clock reading of this burst.</param>
    public bool MayBeDue(long reading) => --_frames <= _framesAtReading || reading >= _nextTime;

    /// <summary>Finds out the time, from the clock if no handler has read it since the last call.</summary>
    /// <param name="reading">The newest clock reading of this burst.</param>
    public void Look(long reading)
    {
        if (_frames <= _framesAtReading)
        {
            if (reading <= _lastReading)
            {
                reading = MonotonicClock.Nanoseconds;
            }

            bool areShort = reading - _lastReading < _framesPerReading * ShortNanoseconds;
            ReadAfter(areShort ? ShortFramesPerReading : FramesPerReading);
        }

        _lastReading = Math.Max(reading, _lastReading);
    }

    /// <summary>All replies so far were sent: the next ones have their time to wait.</summary>
    public void RepliesSent(long now)
    {
        _repliesDue = now + RepliesWaitNanoseconds;
        _nextTime = Math.Min(_endsAt, _repliesDue);
    }

    /// <summary>
    /// Ends the burst; the remaining time is left to the next burst of the turn. Reads the clock if no handler has since the last look:
    /// bursts of a few frames use the turn up too.
    /// </summary>
    /// <param name="reading">The newest clock reading of this burst.</param>
    public void EndBurst(long reading) =>
        _nanoseconds = _endsAt - (reading > _lastReading ? reading : MonotonicClock.Nanoseconds);

    /// <summary>Begins a new turn with the full budget.</summary>
    public void Renew()
    {
        _frames = Frames;
        _nanoseconds = Nanoseconds;
    }

    private void ReadAfter(int frames)
    {
        _framesPerReading = frames;
        _framesAtReading = Math.Max(_frames - frames, 0);
    }
}
