using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Sessions;
using FastPort.Sessions.Logging;

namespace FastPort.Dispatch;

/// <summary>
/// Finds inline handlers that block their loop. One clock reading per burst detects a slow burst. The coarse clock finds the handler: the
/// one during which the clock advanced most. A handler that does not return never ends its burst, so the clock's thread checks too:
/// <see cref="Watch"/>.
/// <para>
/// Owned by one session's loop, except <see cref="Watch"/>, which runs on the clock's thread and reads what the loop writes. The start time
/// of a burst identifies it within the session: what the clock's thread has read belongs to that burst if <c>_began</c> is still unchanged
/// afterwards.
/// </para>
/// </summary>
internal sealed class SlowHandlerWatch(SessionSettings settings)
{
    // At most one line per second and session, because a slow handler is called again and again. The end of a burst that was reported while
    // it ran is always reported.
    private const long LineEveryMilliseconds = 1000;

    private readonly long _threshold = (long)(settings.Options.SlowHandlerThreshold.TotalMilliseconds * 1_000_000);
    private readonly ConnectionClock _clock = settings.Clock;

    // Written by the loop, read by the clock's thread: the start of the current burst (0 between bursts), and the handler called last in
    // it.
    private long _began;
    private HandlerEntry? _last;

    // Owned by the loop.
    private HandlerEntry? _suspect;
    private long _suspectMilliseconds;
    private long _tick;

    // Owned by the clock's thread; the loop reads them at the end of a slow burst. The burst that the clock's thread saw last and since
    // when, the burst it reported, and the handler it named.
    private long _seen;
    private long _seenSince;
    private long _told;
    private HandlerEntry? _named;

    // Written by the loop and by the clock's thread, each when it writes a line.
    private long _nextLine = long.MinValue;

    public void BeginBurst(long now)
    {
        _tick = _clock.NowMilliseconds;
        Volatile.Write(ref _began, now);
    }

    public void Handling(HandlerEntry handler)
    {
        if (!ReferenceEquals(_last, handler))
        {
            // Written only when it changes, because of the garbage collector's write barrier.
            Volatile.Write(ref _last, handler);
        }
    }

    public void Handled(HandlerEntry handler)
    {
        long tick = _clock.NowMilliseconds;
        if (tick != _tick)
        {
            Suspect(handler, tick);
        }
    }

    public void EndBurst(Session session)
    {
        long began = _began;
        HandlerEntry? blocker = _last;

        // Before the clock is read below: a burst that the clock's thread reported as running is then slow by that reading, too.
        Volatile.Write(ref _began, 0);
        _last = null;
        if (_suspect is not null)
        {
            blocker = _suspect;
            _suspect = null;
            _suspectMilliseconds = 0;
        }

        if (_threshold == 0 || blocker is null)
        {
            return;
        }

        long took = MonotonicClock.Nanoseconds - began;
        if (took >= _threshold || Volatile.Read(ref _told) == began)
        {
            TellEnd(session, blocker, began, took / 1_000_000);
        }
    }

    /// <summary>
    /// Runs on the clock's thread. Reports a burst that is older than the threshold and still running, once for each handler found in it.
    /// Returns when the clock must call again. The age is counted from the first tick that finds the burst, so it can be one period too
    /// small.
    /// </summary>
    /// <param name="session">The session.</param>
    /// <param name="nowMilliseconds">The clock's reading, in milliseconds.</param>
    /// <param name="isDue">Whether input has arrived for which no burst has begun yet.</param>
    public long Watch(Session session, long nowMilliseconds, bool isDue)
    {
        if (_threshold == 0)
        {
            return ConnectionClock.Never;
        }

        long began = Volatile.Read(ref _began);
        if (began == 0)
        {
            // The tick that a burst requests may run just before the burst begins.
            return isDue ? ConnectionClock.NextTick : ConnectionClock.Never;
        }

        if (began != _seen)
        {
            _seen = began;
            _seenSince = nowMilliseconds;
        }

        long age = nowMilliseconds - _seenSince;
        HandlerEntry? handler = Volatile.Read(ref _last);
        if (handler is null || age * 1_000_000 < _threshold || (_told == began && ReferenceEquals(_named, handler))
            || nowMilliseconds < Volatile.Read(ref _nextLine))
        {
            return ConnectionClock.NextTick;
        }

        // _told is written before _began is read. The loop clears _began before it reads _told, so at least one of the two threads sees the
        // other's write. If the burst ends after this read, the loop's line may precede this one.
        _named = handler;
        Interlocked.Exchange(ref _told, began);
        if (Volatile.Read(ref _began) == began)
        {
            Volatile.Write(ref _nextLine, nowMilliseconds + LineEveryMilliseconds);
            SessionLog.HandlerHolds(settings.Logger, session, handler.Name, age);
        }

        return ConnectionClock.NextTick;
    }

    // Suspect and TellEnd are rarely called: not inlined.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Suspect(HandlerEntry handler, long tick)
    {
        long moved = tick - _tick;
        _tick = tick;
        if (moved >= _suspectMilliseconds)
        {
            _suspectMilliseconds = moved;
            _suspect = handler;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void TellEnd(Session session, HandlerEntry blocker, long began, long milliseconds)
    {
        Interlocked.MemoryBarrier();
        bool told = Volatile.Read(ref _told) == began;
        long now = _clock.PreciseMilliseconds;
        if (!told && now < Volatile.Read(ref _nextLine))
        {
            return;
        }

        Volatile.Write(ref _nextLine, now + LineEveryMilliseconds);

        // The clock may be a test's, not the stopwatch. The reported duration is never less than the age reported before.
        SessionLog.SlowHandler(
            settings.Logger, session, blocker.Name, told ? Math.Max(milliseconds, now - Volatile.Read(ref _seenSince)) : milliseconds);
    }
}
