namespace FastPort.Sessions.Receiving;

/// <summary>
/// What one session may do before the other connections of its loop have their turn: a number of frames and a time, added up over bursts,
/// as several bursts may be one turn. Without it one peer with a full receive ring holds up everybody on its loop. Loop only; a mutable
/// struct.
/// </summary>
internal struct TurnBudget()
{
    /// <summary>Frames of one turn, of whatever kind. A publication counts as one frame for each session that it is sent to.</summary>
    public const int Frames = 2048;

    /// <summary>Time of one turn. Typed echoes of 64 bytes take a fifth of it for a burst of 64 KiB.</summary>
    public const long Nanoseconds = 1_000_000;

    // Control frames, and handlers that nobody measures, leave no clock reading behind.
    private const int FramesPerReading = 16;

    private int _frames = Frames;
    private long _nanoseconds = Nanoseconds;
    private long _endsAt;
    private long _lastReading;

    public void BeginBurst(long now)
    {
        _lastReading = now;
        _endsAt = now + _nanoseconds;
    }

    /// <summary>Takes work off the budget that one frame has made in addition.</summary>
    public void Spend(int frames) => _frames -= frames;

    /// <summary>One frame was handled; true where the turn is over.</summary>
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

    /// <summary>The burst has ended: what it has left is the next one's.</summary>
    /// <param name="reading">The newest clock reading of this burst.</param>
    public void EndBurst(long reading) => _nanoseconds = _endsAt - Math.Max(reading, _lastReading);

    /// <summary>The others have their turn now.</summary>
    public void Renew()
    {
        _frames = Frames;
        _nanoseconds = Nanoseconds;
    }
}
