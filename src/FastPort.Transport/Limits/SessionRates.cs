using FastPort.Telemetry;

namespace FastPort.Limits;

/// <summary>
/// The rates of one session: of its address, its identity and all sessions. Used by the session's loop; <see cref="Close"/> once, at the
/// end.
/// </summary>
internal sealed class SessionRates(RateLimiter limiter, RateAccount? total, RateAccount? address)
{
    private RateAccount? _identity;

    /// <summary>The account and rate that the session was found over last.</summary>
    public RateAccount? OverAccount { get; private set; }

    public RateResource OverResource { get; private set; }

    public bool Refuses => limiter.WhenExceeded == RateExceededPolicy.Refuse;

    /// <summary>For how long the session is over a rate from now on; zero if it is not.</summary>
    /// <param name="reading">The time now, of <see cref="MonotonicClock"/>.</param>
    public TimeSpan OverFor(long reading) => OverForAt(limiter.At(reading));

    /// <summary>The peer has identified itself: null, or the rate of connections that refuses it.</summary>
    /// <param name="name">The identity's name.</param>
    public string? TryIdentify(string name)
    {
        // A Hello that was refused may come again, as another identity.
        limiter.Close(_identity);
        _identity = limiter.OfIdentity(name);
        return _identity is null ? null : limiter.TryIdentify(_identity);
    }

    /// <summary>Charges a burst; true if the session is over a rate now, which should be logged.</summary>
    /// <param name="used">What it has used.</param>
    /// <param name="reading">The time now, of <see cref="MonotonicClock"/>.</param>
    public bool Charge(in RateUse used, long reading)
    {
        long now = limiter.At(reading);
        total?.Charge(used, now);
        address?.Charge(used, now);
        _identity?.Charge(used, now);
        if (OverForAt(now) == TimeSpan.Zero)
        {
            return false;
        }

        limiter.Exceeded(OverAccount!, OverResource);
        return OverAccount!.IsTimeToLog(now);
    }

    public void Close()
    {
        limiter.Close(address);
        limiter.Close(_identity);
    }

    private TimeSpan OverForAt(long now)
    {
        long longest = 0;
        Look(total, now, ref longest);
        Look(address, now, ref longest);
        Look(_identity, now, ref longest);
        return longest == 0 ? TimeSpan.Zero : TimeSpan.FromTicks((longest / TimeSpan.NanosecondsPerTick) + 1);
    }

    private void Look(RateAccount? account, long now, ref long longest)
    {
        if (account?.OverFor(now, out RateResource over) is { } time && time > longest)
        {
            longest = time;
            OverAccount = account;
            OverResource = over;
        }
    }
}
