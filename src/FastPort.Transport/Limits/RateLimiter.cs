using System.Net;
using FastPort.Connections;
using FastPort.Telemetry;

namespace FastPort.Limits;

/// <summary>
/// The accounts of a server's rates: one in total, one for each address and each identity that has sessions or unpaid usage. Thread-safe.
/// <see cref="_gate"/> guards the two tables and <see cref="RateAccount.Sessions"/>; nothing is called under it.
/// </summary>
internal sealed class RateLimiter
{
    // Unused accounts are looked for when the tables have grown to twice what was left the last time, but not before this number.
    private const int FirstSweep = 1024;

    private readonly RateOptions _options;
    private readonly ConnectionCounters _counters;
    private readonly TimeProvider _time;
    private readonly long _origin;
    private readonly AddressNetworks _exempt;
    private readonly RateAccount? _total;
    private readonly Lock _gate = new();
    private readonly Dictionary<IPNetwork, RateAccount> _addresses = [];
    private readonly Dictionary<string, RateAccount> _identities = new(StringComparer.Ordinal);
    private int _sweepAt = FirstSweep;

    public RateLimiter(RateOptions options, ConnectionCounters counters, TimeProvider time)
    {
        (_options, _counters, _time, _origin) = (options, counters, time, time.GetTimestamp());
        _exempt = new AddressNetworks(options.Exempt);
        _total = options.Total.IsEmpty ? null : new RateAccount(RateScope.Total, "all sessions", options.Total, options.Burst);
    }

    public RateExceededPolicy WhenExceeded => _options.WhenExceeded;

    /// <summary>The clock of all accounts, in nanoseconds.</summary>
    public long Now => At(MonotonicClock.Nanoseconds);

    /// <summary>
    /// The time of the accounts' clock at a reading of <see cref="MonotonicClock"/> that was taken just now: the same clock, unless a
    /// program or a test has another one.
    /// </summary>
    public long At(long reading) =>
        _time == TimeProvider.System ? reading : _time.GetElapsedTime(_origin).Ticks * TimeSpan.NanosecondsPerTick;

    /// <summary>Accounts of addresses and identities.</summary>
    public int Accounts
    {
        get
        {
            lock (_gate)
            {
                return _addresses.Count + _identities.Count;
            }
        }
    }

    /// <summary>Counts a connection from this address (null), or returns the rate that refuses it, for the log.</summary>
    /// <param name="remote">The address; null for a peer that has none.</param>
    public string? TryConnect(EndPoint? remote)
    {
        if (_exempt.Contain(remote))
        {
            return null;
        }

        long now = Now;
        if (OfAddress(remote, now, sessions: 0) is { } account && !account.TryConnect(now))
        {
            return Refuse(account);
        }

        return _total?.TryConnect(now) == false ? Refuse(_total) : null;
    }

    /// <summary>Counts a Hello of this identity (null), or returns the rate that refuses it.</summary>
    public string? TryIdentify(RateAccount account) => account.TryConnect(Now) ? null : Refuse(account);

    /// <summary>The rates of a new session; null if it has none. <see cref="Close"/> must be called at its end.</summary>
    public SessionRates? Open(EndPoint? remote) => _options.IsEmpty || _exempt.Contain(remote)
        ? null
        : new SessionRates(this, _total is { CountsMessages: true } ? _total : null, OfAddress(remote, Now, sessions: 1));

    /// <summary>The account of an identity, for one more session; null if identities have no rates.</summary>
    public RateAccount? OfIdentity(string name)
    {
        if (_options.PerIdentity.IsEmpty)
        {
            return null;
        }

        long now = Now;
        lock (_gate)
        {
            Sweep(now);
            if (!_identities.TryGetValue(name, out RateAccount? account))
            {
                _identities[name] = account = new RateAccount(
                    RateScope.Identity, $"user '{name}'", _options.PerIdentity, _options.Burst);
            }

            account.Sessions++;
            return account;
        }
    }

    /// <summary>A session no longer uses an account.</summary>
    public void Close(RateAccount? account)
    {
        if (account is not null)
        {
            lock (_gate)
            {
                account.Sessions--;
            }
        }
    }

    /// <summary>Counts that a session has begun to be over a rate.</summary>
    public void Exceeded(RateAccount account, RateResource resource) => _counters.RateExceeded(account.Scope, resource);

    private string Refuse(RateAccount account)
    {
        _counters.RateExceeded(account.Scope, RateResource.Connections);
        return $"{account.Name} may open {account.Show(RateResource.Connections)}";
    }

    private RateAccount? OfAddress(EndPoint? remote, long now, int sessions)
    {
        if (_options.PerAddress.IsEmpty || AddressNetworks.CountedAs(remote) is not { } network)
        {
            return null;
        }

        lock (_gate)
        {
            Sweep(now);
            if (!_addresses.TryGetValue(network, out RateAccount? account))
            {
                _addresses[network] = account = new RateAccount(
                    RateScope.Address, $"address {AddressNetworks.Show(network)}", _options.PerAddress, _options.Burst);
            }

            account.Sessions += sessions;
            return account;
        }
    }

    // Costs a connection little on average, because the tables must double in between.
    private void Sweep(long now)
    {
        if (_addresses.Count + _identities.Count < _sweepAt)
        {
            return;
        }

        RemoveUnused(_addresses, now);
        RemoveUnused(_identities, now);
        _sweepAt = Math.Max(FirstSweep, 2 * (_addresses.Count + _identities.Count));
    }

    private static void RemoveUnused<TKey>(Dictionary<TKey, RateAccount> accounts, long now)
        where TKey : notnull
    {
        foreach ((TKey key, RateAccount account) in accounts)
        {
            if (account.IsUnused(now))
            {
                // Dictionaries of .NET allow this while they are enumerated.
                accounts.Remove(key);
            }
        }
    }
}
