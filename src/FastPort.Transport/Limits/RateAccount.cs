using FastPort.Telemetry;

namespace FastPort.Limits;

/// <summary>The usage of one address, one identity, or all sessions together. Thread-safe.</summary>
internal sealed class RateAccount(RateScope scope, string name, RateLimits limits, TimeSpan burst)
{
    private const long LineEveryNanoseconds = 10_000_000_000;

    private readonly RateBucket? _connections = Create(limits.ConnectionsPerSecond, burst);
    private readonly RateBucket? _messages = Create(limits.MessagesPerSecond, burst);
    private readonly RateBucket? _bytes = Create(limits.BytesPerSecond, burst);
    private readonly RateBucket? _loopTime = Create(limits.LoopTimePercent * 10_000_000.0, burst);
    private long _nextLine = long.MinValue;

    public RateScope Scope => scope;

    /// <summary>Whose account this is, as the log names it.</summary>
    public string Name => name;

    /// <summary>Open sessions that use this account. The limiter's lock guards it.</summary>
    public int Sessions { get; set; }

    /// <summary>Whether sessions are charged at all.</summary>
    public bool CountsMessages => limits.CountsMessages;

    public bool TryConnect(long now) => _connections?.TryTake(now) != false;

    /// <summary>Charges a session's usage.</summary>
    /// <param name="used">What the session has used.</param>
    /// <param name="now">The limiter's clock, in nanoseconds.</param>
    public void Charge(in RateUse used, long now)
    {
        _messages?.Charge(used.Messages, now);
        _bytes?.Charge(used.Bytes, now);
        _loopTime?.Charge(used.LoopNanoseconds, now);
    }

    /// <summary>For how many nanoseconds the account is over a rate; 0 or less if it is not.</summary>
    /// <param name="now">The limiter's clock, in nanoseconds.</param>
    /// <param name="over">The rate that takes longest to recover.</param>
    public long OverFor(long now, out RateResource over)
    {
        long messages = _messages?.OverFor(now) ?? 0, bytes = _bytes?.OverFor(now) ?? 0, loopTime = _loopTime?.OverFor(now) ?? 0;
        long longest = Math.Max(messages, Math.Max(bytes, loopTime));
        over = longest == messages ? RateResource.Messages : longest == bytes ? RateResource.Bytes : RateResource.LoopTime;
        return longest;
    }

    /// <summary>A rate as people write it.</summary>
    public string Show(RateResource resource) => resource switch
    {
        RateResource.Messages => $"{limits.MessagesPerSecond} messages/s",
        RateResource.Bytes => $"{limits.BytesPerSecond} bytes/s",
        RateResource.LoopTime => $"{limits.LoopTimePercent} % of a core",
        _ => $"{limits.ConnectionsPerSecond} connections/s",
    };

    /// <summary>Whether the account equals a new one.</summary>
    public bool IsUnused(long now) =>
        Sessions == 0 && IsFull(_connections, now) && IsFull(_messages, now) && IsFull(_bytes, now) && IsFull(_loopTime, now);

    /// <summary>Whether to log that this account is over its rate: every 10 s.</summary>
    public bool IsTimeToLog(long now)
    {
        long next = Volatile.Read(ref _nextLine);
        return now >= next && Interlocked.CompareExchange(ref _nextLine, now + LineEveryNanoseconds, next) == next;
    }

    private static RateBucket? Create(double perSecond, TimeSpan burst) => perSecond == 0 ? null : new RateBucket(perSecond, burst);

    private static bool IsFull(RateBucket? bucket, long now) => bucket?.IsFull(now) != false;
}
