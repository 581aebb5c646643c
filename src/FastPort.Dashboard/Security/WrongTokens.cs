using System.Net;
using System.Threading.RateLimiting;

namespace FastPort.Dashboard.Security;

/// <summary>
/// Counts requests with a wrong token, and refuses more than a few a minute from one address, for IPv6 from one /64 network: a client with
/// one address there has all of them. Thread-safe.
/// </summary>
internal sealed class WrongTokens : IDisposable
{
    /// <summary>Wrong tokens per address and <see cref="Window"/>.</summary>
    public const int Allowed = 10;

    /// <summary>The time after which an address may try again.</summary>
    public static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    /// <summary>Log lines of all addresses together and <see cref="Window"/>.</summary>
    public const int Lines = 60;

    private readonly PartitionedRateLimiter<IPAddress> _attempts = PartitionedRateLimiter.Create<IPAddress, string>(static address =>
        RateLimitPartition.GetFixedWindowLimiter(
            Ban.SubjectOf(new IPEndPoint(address, 0)) ?? string.Empty,
            static _ => new FixedWindowRateLimiterOptions { PermitLimit = Allowed, Window = Window }));

    private readonly FixedWindowRateLimiter _lines = new(new FixedWindowRateLimiterOptions { PermitLimit = Lines, Window = Window });

    private long _count;

    /// <summary>Requests with a wrong token so far.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>Whether a token of this address is checked; not after too many wrong ones.</summary>
    public bool MayTry(IPAddress address)
    {
        using RateLimitLease lease = _attempts.AttemptAcquire(address, permitCount: 0);
        return lease.IsAcquired;
    }

    /// <summary>A token was wrong. Returns whether it may be logged; its lines have <see cref="Count"/>, so nothing is lost.</summary>
    public bool Add(IPAddress address)
    {
        Interlocked.Increment(ref _count);
        using RateLimitLease lease = _attempts.AttemptAcquire(address);
        using RateLimitLease line = _lines.AttemptAcquire();
        return line.IsAcquired;
    }

    public void Dispose()
    {
        _attempts.Dispose();
        _lines.Dispose();
    }
}
