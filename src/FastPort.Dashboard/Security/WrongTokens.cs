using System.Net;
using System.Threading.RateLimiting;

namespace FastPort.Dashboard.Security;

/// <summary>Counts requests with a wrong token, and refuses more than a few a minute from one address. Thread-safe.</summary>
internal sealed class WrongTokens : IDisposable
{
    /// <summary>Wrong tokens per address and <see cref="Window"/>.</summary>
    public const int Allowed = 10;

    /// <summary>The time after which an address may try again.</summary>
    public static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    private readonly PartitionedRateLimiter<IPAddress> _attempts = PartitionedRateLimiter.Create<IPAddress, IPAddress>(static address =>
        RateLimitPartition.GetFixedWindowLimiter(
            address, static _ => new FixedWindowRateLimiterOptions { PermitLimit = Allowed, Window = Window }));

    private long _count;

    /// <summary>Requests with a wrong token so far.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>Whether a token of this address is looked at; not after too many wrong ones.</summary>
    public bool MayTry(IPAddress address)
    {
        using RateLimitLease lease = _attempts.AttemptAcquire(address, permitCount: 0);
        return lease.IsAcquired;
    }

    /// <summary>A token was wrong.</summary>
    public void Add(IPAddress address)
    {
        Interlocked.Increment(ref _count);
        using RateLimitLease lease = _attempts.AttemptAcquire(address);
    }

    public void Dispose() => _attempts.Dispose();
}
