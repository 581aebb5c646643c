namespace FastPort.Sessions.Receiving;

/// <summary>
/// Limits what one session may do before the other connections of its loop have their turn: a number of frames and a time, summed over
/// bursts, because a turn may have several bursts. Without it, one peer with a full receive ring would delay all connections of its loop.
/// Loop only; a mutable struct.
/// </summary>
internal struct TurnBudget()
{
    /// <summary>Frames per turn, of any kind. A publication counts as one frame for each session that it is sent to.</summary>
    public const int Frames = 2048;

    /// <summary>Time per turn. A burst of 64 KiB of typed 64-byte echoes takes a fifth of it.</summary>
    public const long Nanoseconds = 1_000_000;

    // Control frames and unmeasured handlers produce no clock reading, so the clock is read once per this number of frames.
    private const int FramesPerReading = 16;

    private int _frames = Frames;
    private long _nanoseconds = Nanoseconds;
    private long _endsAt;
    private long _lastReading;

    /// <summary>The newest clock reading that this budget has seen.</summary>
    public readonly long LastReading => _lastReading;

    public void BeginBurst(long now)
    {
        _lastReading = now;
        _endsAt = now + _nanoseconds;
    }

    /// <summary>Subtracts the additional work of one frame from the budget.</summary>
    public void Spend(int frames) => _frames -= frames;

    /// <summary>Counts one handled frame; true if the turn is over.</summary>
    /// <param name="reading">The newest clock reading of this burst.</param>
    public bool IsOver(long reading)
    {
        if ((--_frames & (FramesPerReading - 1)) == 0)
        {
            if (reading == _lastReading)
            {
                reading = MonotonicClock.Nanoseconds;
            }

            _lastReading = reading;
        }

        return _frames <= 0 || reading >= _endsAt;
    }

    /// <summary>Ends the burst; the remaining time is left to the next burst of the turn.</summary>
    /// <param name="reading">The newest clock reading of this burst.</param>
    public void EndBurst(long reading) => _nanoseconds = _endsAt - Math.Max(reading, _lastReading);

    /// <summary>Begins a new turn with the full budget.</summary>
    public void Renew()
    {
        _frames = Frames;
        _nanoseconds = Nanoseconds;
    }
}
