namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// The total time in which a loop had no work: it slept, or spun for work. The loop writes it; any thread reads it. One word holds both
/// the completed waits and the beginning of the current wait, so that a reader needs no lock.
/// </summary>
internal sealed class LoopIdleTime
{
    // While the loop works: the idle nanoseconds. While it waits: those less the clock's reading when it began to wait, which is negative,
    // because the clock has run since the system started and the loop has not.
    private long _idle;

    public long Nanoseconds => Volatile.Read(ref _idle) is var idle && idle < 0 ? idle + MonotonicClock.Nanoseconds : idle;

    public void Begin() => Volatile.Write(ref _idle, _idle - MonotonicClock.Nanoseconds);

    public void End() => Volatile.Write(ref _idle, _idle + MonotonicClock.Nanoseconds);
}
