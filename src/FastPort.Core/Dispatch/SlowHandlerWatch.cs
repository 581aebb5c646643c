using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Sessions;
using FastPort.Sessions.Logging;

namespace FastPort.Dispatch;

/// <summary>
/// Finds inline handlers that hold their loop up. One clock reading per burst tells that it happened; who did it is told by the coarse
/// clock: the handler during which it moved on the furthest. A handler that does not return has no end of a burst, so the clock itself
/// looks as well: <see cref="Watch"/>.
/// <para>
/// Belongs to one session's loop, but for <see cref="Watch"/>, which comes on the clock's thread and only looks at what the loop writes
/// anyway. A burst is known by when it began, which no other of the session shares: what the clock has read is of that burst if it is still
/// the one under way afterwards.
/// </para>
/// </summary>
internal sealed class SlowHandlerWatch(SessionSettings settings)
{
    // One line a second for each session: a slow handler is called again and again. The end of a burst that was told of while it lasted is
    // told in any case.
    private const long LineEveryMilliseconds = 1000;

    private readonly long _threshold = (long)(settings.Options.SlowHandlerThreshold.TotalMilliseconds * 1_000_000);
    private readonly ConnectionClock _clock = settings.Clock;

    // Written by the loop, read by the clock: when the burst under way began, 0 between bursts, and the handler that was begun last in it.
    private long _began;
    private HandlerEntry? _last;

    // The loop's.
    private HandlerEntry? _suspect;
    private long _suspectMilliseconds;
    private long _tick;

    // The clock's, but for the loop's look at the end of a slow burst: the burst it saw last and since when, the one it has told of and
    // whom it has named.
    private long _seen;
    private long _seenSince;
    private long _told;
    private HandlerEntry? _named;

    // Both write it, when they write a line.
    private long _nextLine = long.MinValue;

    public void BeginBurst(long now)
    {
        _tick = _clock.NowMilliseconds;
        Volatile.Write(ref _began, now);
    }

    /// <summary>A handler is about to be called.</summary>
    public void Handling(HandlerEntry handler)
    {
        if (!ReferenceEquals(_last, handler))
        {
            // Not each time: it costs the collector's write barrier.
            Volatile.Write(ref _last, handler);
        }
    }

    /// <summary>A handler has returned.</summary>
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

        // Before the reading below: what the clock has told of as under way is then slow by that reading, too.
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
    /// On the clock's thread: tells of a burst that is older than the threshold and not over yet, once for each handler that is found in
    /// it. Returns when to come again. The burst's age is counted from the first tick that finds it, so it is up to a period too small.
    /// </summary>
    /// <param name="session">The session.</param>
    /// <param name="nowMilliseconds">The clock's reading.</param>
    /// <param name="isDue">Whether something has come for which no burst has begun yet.</param>
    public long Watch(Session session, long nowMilliseconds, bool isDue)
    {
        if (_threshold == 0)
        {
            return ConnectionClock.Never;
        }

        long began = Volatile.Read(ref _began);
        if (began == 0)
        {
            // The tick that a burst asks for may come just before it.
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

        // Written before the look whether the burst is over, as the loop says that it is before it looks here: one of the two sees the
        // other. Where the burst ends after that look, its line may come before this one.
        _named = handler;
        Interlocked.Exchange(ref _told, began);
        if (Volatile.Read(ref _began) == began)
        {
            Volatile.Write(ref _nextLine, nowMilliseconds + LineEveryMilliseconds);
            SessionLog.HandlerHolds(settings.Logger, session, handler.Name, age);
        }

        return ConnectionClock.NextTick;
    }

    // Apart, as is the next one: seldom called.
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

        // The clock's time need not be the stopwatch's; the whole is never less than what was told of it.
        SessionLog.SlowHandler(
            settings.Logger, session, blocker.Name, told ? Math.Max(milliseconds, now - Volatile.Read(ref _seenSince)) : milliseconds);
    }
}
