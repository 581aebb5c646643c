namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// How long a loop has had nothing to do: it slept, or spun for work. The loop writes, any thread reads, and one word holds both what has
/// passed and the beginning of a wait that has not ended, so that a reader needs no lock.
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
