using System.Net;
using FastPort.Limits;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Limits;

public sealed class RateLimiterTests
{
    private readonly FakeTimeProvider _time = new();
    private readonly ConnectionCounters _counters = new();
    private readonly RateOptions _options = new();

    [Fact]
    public void Addresses_have_a_rate_each_and_all_have_one_together()
    {
        _options.PerAddress.ConnectionsPerSecond = 2;
        _options.Total.ConnectionsPerSecond = 3;
        RateLimiter limiter = Create();

        Assert.Null(limiter.TryConnect(Address("192.0.2.1")));
        Assert.Null(limiter.TryConnect(Address("::ffff:192.0.2.1")));
        Assert.Equal("address 192.0.2.1 may open 2 connections/s", limiter.TryConnect(Address("192.0.2.1")));
        Assert.Null(limiter.TryConnect(Address("2001:db8::1")));
        Assert.Equal("all sessions may open 3 connections/s", limiter.TryConnect(Address("2001:db8::2")));
        Assert.Equal(
            (1L, 1L),
            (_counters.Snapshot().RatesExceededFor(RateScope.Address, RateResource.Connections),
                _counters.Snapshot().RatesExceededFor(RateScope.Total, RateResource.Connections)));

        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Null(limiter.TryConnect(Address("192.0.2.1")));
    }

    [Fact]
    public void Exempt_addresses_have_no_rates_and_use_up_none()
    {
        _options.PerAddress.ConnectionsPerSecond = 1;
        _options.Total.ConnectionsPerSecond = 1;
        _options.Exempt = ["192.0.2.0/24"];
        RateLimiter limiter = Create();

        Assert.All(Enumerable.Range(0, 10), _ => Assert.Null(limiter.TryConnect(Address("192.0.2.7"))));
        Assert.Null(limiter.Open(Address("192.0.2.7")));
        Assert.Null(limiter.TryConnect(Address("198.51.100.1")));
    }

    [Fact]
    public void Sessions_of_an_identity_share_its_rate_and_others_have_their_own()
    {
        _options.PerIdentity.MessagesPerSecond = 10;
        RateLimiter limiter = Create();
        SessionRates[] anna = [Open(limiter, "anna"), Open(limiter, "anna")];
        SessionRates bert = Open(limiter, "bert");

        anna[0].Charge(new RateUse(10, 0, 0), reading: 0);
        bert.Charge(new RateUse(10, 0, 0), reading: 0);
        Assert.Equal((TimeSpan.Zero, TimeSpan.Zero), (anna[0].OverFor(reading: 0), bert.OverFor(reading: 0)));

        Assert.True(anna[1].Charge(new RateUse(5, 0, 0), reading: 0));

        Assert.Equal(("user 'anna'", RateResource.Messages), (anna[1].OverAccount!.Name, anna[1].OverResource));
        Assert.InRange(anna[1].OverFor(reading: 0), TimeSpan.FromSeconds(0.5), TimeSpan.FromSeconds(0.5001));
        Assert.InRange(anna[0].OverFor(reading: 0), TimeSpan.FromSeconds(0.5), TimeSpan.FromSeconds(0.5001));
        Assert.False(bert.Charge(default, reading: 0));
        Assert.Equal(TimeSpan.Zero, bert.OverFor(reading: 0));
        _time.Advance(TimeSpan.FromSeconds(0.6));
        Assert.Equal(TimeSpan.Zero, anna[1].OverFor(reading: 0));
    }

    [Fact]
    public void The_rate_that_takes_longest_decides()
    {
        _options.PerAddress.MessagesPerSecond = 10;
        _options.PerAddress.BytesPerSecond = 1000;
        _options.Total.LoopTimePercent = 50;
        RateLimiter limiter = Create();
        SessionRates session = limiter.Open(Address("192.0.2.1"))!;

        session.Charge(new RateUse(20, 4000, 1_500_000_000), reading: 0);

        Assert.Equal(RateResource.Bytes, session.OverResource);
        Assert.InRange(session.OverFor(reading: 0), TimeSpan.FromSeconds(3), TimeSpan.FromSeconds(3.0001));
        Assert.Equal("1000 bytes/s", session.OverAccount!.Show(session.OverResource));
    }

    [Fact]
    public void The_log_is_told_once_in_10_s_for_each_account()
    {
        _options.PerAddress.MessagesPerSecond = 1;
        RateLimiter limiter = Create();
        SessionRates one = limiter.Open(Address("192.0.2.1"))!, two = limiter.Open(Address("192.0.2.2"))!;
        RateUse use = new(100, 0, 0);

        Assert.True(one.Charge(use, reading: 0));
        Assert.False(one.Charge(use, reading: 0));
        Assert.True(two.Charge(use, reading: 0));
        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.True(one.Charge(use, reading: 0));
        Assert.Equal(4, _counters.Snapshot().RatesExceededFor(RateScope.Address, RateResource.Messages));
    }

    [Fact]
    public void A_peer_that_connects_again_is_still_in_debt_and_accounts_that_are_paid_are_forgotten()
    {
        _options.PerAddress.MessagesPerSecond = 100;
        RateLimiter limiter = Create();
        SessionRates first = limiter.Open(Address("192.0.2.1"))!;
        first.Charge(new RateUse(1000, 0, 0), reading: 0);
        first.Close();
        for (int i = 0; i < 5000; i++)
        {
            limiter.Open(Address($"10.0.{i / 250}.{i % 250}"))!.Close();
        }

        Assert.InRange(limiter.Accounts, 1, 1100);
        SessionRates again = limiter.Open(Address("192.0.2.1"))!;
        Assert.True(again.OverFor(reading: 0) > TimeSpan.FromSeconds(8), $"It is over for {again.OverFor(reading: 0)}.");
    }

    [Fact]
    public void Connections_of_an_identity_are_its_Hellos()
    {
        _options.PerIdentity.ConnectionsPerSecond = 1;
        RateLimiter limiter = Create();

        Assert.Null(limiter.Open(Address("192.0.2.1"))!.TryIdentify("anna"));
        Assert.Equal("user 'anna' may open 1 connections/s", limiter.Open(Address("192.0.2.2"))!.TryIdentify("anna"));
        Assert.Null(limiter.Open(Address("192.0.2.3"))!.TryIdentify("bert"));
    }

    private static IPEndPoint Address(string address) => new(IPAddress.Parse(address), 1);

    private static SessionRates Open(RateLimiter limiter, string user)
    {
        SessionRates session = limiter.Open(Address("192.0.2.1"))!;
        Assert.Null(session.TryIdentify(user));
        return session;
    }

    private RateLimiter Create() => new(_options, _counters, _time);
}
