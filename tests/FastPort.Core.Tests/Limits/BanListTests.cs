using System.Net;
using Xunit;

namespace FastPort.Core.Tests.Limits;

public sealed class BanListTests
{
    private readonly FakeTimeProvider _time = new();
    private readonly List<string> _events = [];
    private readonly BanList _bans;

    public BanListTests()
    {
        _bans = new BanList(_time);
        _bans.Added += ban => _events.Add("+" + ban.Subject);
        _bans.Lifted += ban => _events.Add("-" + ban.Subject);
    }

    [Theory]
    [InlineData("192.0.2.7", "192.0.2.7", true)]
    [InlineData("192.0.2.7", "::ffff:192.0.2.7", true)]
    [InlineData("192.0.2.7", "192.0.2.8", false)]
    [InlineData("192.0.2.0/24", "192.0.2.8", true)]
    [InlineData("192.0.2.0/24", "192.0.3.8", false)]
    [InlineData("2001:db8::/64", "2001:db8::1", true)]
    [InlineData("2001:db8::/64", "2001:db8:0:1::1", false)]
    [InlineData("2001:db8::7", "2001:db8::7", true)]
    [InlineData("2001:db8::7", "2001:db8::8", false)]
    [InlineData("2001:db8::/32", "2001:db8:0:1::1", true)]
    [InlineData("192.0.2.1/24", "192.0.2.8", true)]
    [InlineData("::ffff:192.0.2.7", "192.0.2.7", true)]
    [InlineData("::ffff:192.0.2.0/120", "192.0.2.8", true)]
    [InlineData("::ffff:192.0.2.0/120", "::ffff:192.0.2.8", true)]
    [InlineData("::ffff:192.0.2.0/120", "192.0.3.8", false)]
    [InlineData("user:192.0.2.7", "192.0.2.7", false)]
    public void An_address_is_found_by_itself_and_by_its_networks(string subject, string address, bool isBanned)
    {
        _bans.Add(For(subject, 10));

        Assert.Equal(isBanned, _bans.Find(new IPEndPoint(IPAddress.Parse(address), 1)) is not null);
    }

    [Fact]
    public void Peers_without_an_address_are_banned_by_their_identity_only()
    {
        _bans.Add(For("0.0.0.0/0", 10));
        _bans.Add(For("user:anna", 10));

        Assert.Null(_bans.Find((EndPoint?)null));
        Assert.NotNull(_bans.Find("anna"));
        Assert.Null(_bans.Find("Anna"));
    }

    [Fact]
    public void A_subscriber_that_throws_keeps_no_other_one_from_any_change()
    {
        var bans = new BanList(_time);
        bans.Added += static _ => throw new InvalidOperationException("a defect");
        bans.Lifted += static _ => throw new InvalidOperationException("a defect");
        bans.Added += ban => _events.Add("+" + ban.Subject);
        bans.Lifted += ban => _events.Add("-" + ban.Subject);

        var e = Assert.Throws<AggregateException>(() => bans.Add([For("192.0.2.7", 10), For("192.0.2.8", 10)]));
        Assert.Equal(2, e.InnerExceptions.Count);
        Assert.Throws<AggregateException>(() => bans.Replace(bans.Entries, [For("192.0.2.9", 10)]));

        Assert.Equal(["+192.0.2.7", "+192.0.2.8", "+192.0.2.9", "-192.0.2.7", "-192.0.2.8"], _events);
        Assert.Equal("192.0.2.9", Assert.Single(bans.Entries).Subject);
    }

    [Fact]
    public void Several_are_added_at_once_and_replace_those_of_their_subjects()
    {
        _bans.Add(For("192.0.2.7", 10));
        _bans.Add(For("192.0.2.8", 10));

        _bans.Add([For("192.0.2.7", 20), For("192.0.2.9", 20), For("192.0.2.9", 30)]);

        Assert.Equal(
            [("192.0.2.8", 10), ("192.0.2.7", 20), ("192.0.2.9", 30)],
            _bans.Entries.Select(ban => (ban.Subject, (int)(ban.Until - _time.GetUtcNow()).TotalSeconds)));
    }

    [Fact]
    public void A_ban_ends_by_itself()
    {
        _bans.Add(For("192.0.2.7", 10));
        _bans.Add(For("user:anna", 20));
        _bans.Add(For("user:bert", 0));
        Assert.Equal(["192.0.2.7", "user:anna"], _bans.Entries.Select(static b => b.Subject));

        _time.Advance(TimeSpan.FromSeconds(10));

        Assert.Null(_bans.Find(new IPEndPoint(IPAddress.Parse("192.0.2.7"), 1)));
        Assert.Equal(["user:anna"], _bans.Entries.Select(static b => b.Subject));
        Assert.Equal(["+192.0.2.7", "+user:anna"], _events);
    }

    [Theory]
    [InlineData("192.0.2.7", "192.0.2.0/24")]
    [InlineData("192.0.0.0/16", "192.0.2.0/24")]
    public void A_ban_that_has_ended_does_not_hide_one_that_is_in_force(string ended, string inForce)
    {
        _bans.Add(For(ended, 10));
        _bans.Add(For(inForce, 60));

        _time.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal(inForce, _bans.Find(new IPEndPoint(IPAddress.Parse("192.0.2.7"), 1))?.Subject);
    }

    [Fact]
    public void A_ban_is_replaced_by_a_later_one_and_lifted_by_its_subject()
    {
        _bans.Add(For("192.0.2.0/24", 10));
        _bans.Add(For("192.0.2.0/24", 30));

        Assert.Equal(_time.GetUtcNow() + TimeSpan.FromSeconds(30), Assert.Single(_bans.Entries).Until);
        Assert.True(_bans.Lift("192.0.2.0/24"));
        Assert.False(_bans.Lift("192.0.2.0/24"));
        Assert.Equal(["+192.0.2.0/24", "+192.0.2.0/24", "-192.0.2.0/24"], _events);
    }

    [Fact]
    public void A_change_of_a_store_adds_what_came_lifts_what_left_and_touches_nothing_else()
    {
        Ban[] before = [For("user:a", 10), For("user:b", 10), For("user:d", 10)];
        _bans.Replace([], before);
        _bans.Add(For("user:mine", 10));
        _bans.Add(For("user:d", 20));
        _events.Clear();

        _bans.Replace(before, [For("user:b", 10), For("user:c", 10), For("user:c", 20)]);

        Assert.Equal(["+user:c", "-user:a"], _events);
        Assert.Equal(["user:b", "user:mine", "user:d", "user:c"], _bans.Entries.Select(static b => b.Subject));
    }

    [Fact]
    public void What_comes_from_a_store_shortens_its_own_bans_only()
    {
        Ban[] before = [For("user:a", 60), For("user:b", 60)];
        _bans.Replace([], before);
        _bans.Add(For("user:b", 50));
        _bans.Add(For("user:c", 40));
        _bans.Add(For("user:d", 20));
        _events.Clear();

        _bans.Replace(before, [For("user:a", 10), For("user:b", 10), For("user:c", 10), For("user:d", 30)]);

        Assert.Equal(["+user:a", "+user:d"], _events);
        Assert.Equal(
            [("user:a", 10), ("user:d", 30), ("user:c", 40), ("user:b", 50)],
            _bans.Entries.Select(ban => (ban.Subject, (int)(ban.Until - _time.GetUtcNow()).TotalSeconds)));
    }

    [Fact]
    public void Of_two_lines_of_a_subject_the_one_that_is_left_counts()
    {
        Ban[] before = [For("user:a", 10), For("user:a", 20)];
        _bans.Replace([], before);

        _bans.Replace(before, before[..1]);

        Assert.Equal(before[0], Assert.Single(_bans.Entries));
    }

    [Fact]
    public void The_list_is_bounded_and_keeps_those_that_end_last()
    {
        _bans.Replace([], Enumerable.Range(1, BanList.MaxEntries + 5).Select(i => For($"user:{i}", i)));

        Assert.Equal((BanList.MaxEntries, "user:6"), (_bans.Entries.Count, _bans.Entries[0].Subject));
    }

    [Theory]
    [InlineData("")]
    [InlineData("user:")]
    [InlineData("user:a\nb")]
    [InlineData("anna")]
    [InlineData("192.0.2.0/33")]
    public void What_cannot_be_banned_is_refused(string subject)
    {
        ArgumentException e = Assert.Throws<ArgumentException>(() => For(subject, 10));

        Assert.Contains("allowed: addresses such as", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_ban_says_whom_until_when_and_why()
    {
        var ban = new Ban("user:anna", new DateTimeOffset(2026, 11, 26, 12, 0, 0, TimeSpan.FromHours(2)), "shared her password");

        Assert.Equal("user:anna is banned until 2026-11-26T10:00:00Z: shared her password", ban.ToString());
        Assert.Throws<ArgumentException>(() => new Ban("user:anna", DateTimeOffset.MaxValue, "two\u2028lines"));
    }

    [Theory]
    [InlineData("192.0.2.7", "192.0.2.7")]
    [InlineData("::ffff:192.0.2.7", "192.0.2.7")]
    [InlineData("2001:db8:1:2:3::4", "2001:db8:1:2::/64")]
    public void A_peer_is_banned_by_the_network_that_its_limits_count(string address, string subject) =>
        Assert.Equal(subject, Ban.SubjectOf(new IPEndPoint(IPAddress.Parse(address), 1)));

    private Ban For(string subject, int seconds) => new(subject, _time.GetUtcNow() + TimeSpan.FromSeconds(seconds));
}
