using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions;

namespace FastPort.Dispatch;

/// <summary>
/// Finds inline handlers that hold their loop up. One clock reading per burst tells that it happened; who did it is told by the coarse clock: the
/// handler during which it moved on. Belongs to one session's loop.
/// </summary>
internal sealed class SlowHandlerWatch(SessionSettings settings)
{
    // One line a second for each session: a slow handler is called again and again.
    private const long LineEveryMilliseconds = 1000;

    private readonly long _threshold = (long)(settings.Options.SlowHandlerThreshold.TotalMilliseconds * 1_000_000);
    private readonly ConnectionClock _clock = settings.Clock;
    private HandlerEntry? _suspect;
    private HandlerEntry? _last;
    private long _began;
    private long _tick;
    private long _nextLine = long.MinValue;

    public void BeginBurst(long now)
    {
        _began = now;
        _tick = _clock.NowMilliseconds;
    }

    /// <summary>A handler has returned.</summary>
    public void Handled(HandlerEntry handler)
    {
        if (!ReferenceEquals(_last, handler))
        {
            // Not each time: it costs the collector's write barrier.
            _last = handler;
        }

        long tick = _clock.NowMilliseconds;
        if (tick != _tick)
        {
            _tick = tick;
            _suspect = handler;
        }
    }

    public void EndBurst(Session session)
    {
        HandlerEntry? blocker = _suspect ?? _last;
        _suspect = _last = null;
        if (_threshold == 0 || blocker is null)
        {
            return;
        }

        long took = MonotonicClock.Nanoseconds - _began;
        if (took >= _threshold && _clock.PreciseMilliseconds >= _nextLine)
        {
            _nextLine = _clock.PreciseMilliseconds + LineEveryMilliseconds;
            SessionLog.SlowHandler(settings.Logger, session, blocker.Name, took / 1_000_000);
        }
    }
}
