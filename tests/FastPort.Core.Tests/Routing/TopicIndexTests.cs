using System.Text;
using FastPort.Core.Tests.Support;
using FastPort.Routing;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Routing;

/// <summary>What changes and publications cost, counted instead of timed.</summary>
public sealed class TopicIndexTests
{
    private readonly SessionCounters _counters = new();

    [Fact]
    public void The_subscriptions_of_a_session_that_ends_are_released_some_at_a_time()
    {
        const int Topics = 1000;
        var index = new TopicIndex(new RoutingOptions(), _counters);
        using var session = new QuietSession();
        for (int i = 0; i < Topics; i++)
        {
            Assert.Equal(
                TopicChange.Made, index.Subscribe(
                    session.Session, Utf8($"topic/{i}"), i % 2 == 0 ? TopicAudience.Peers : TopicAudience.Server));
        }

        Assert.True(index.EndNeedsMore(session.Session));
        Assert.Equal(TopicChange.None, index.Unsubscribe(session.Session, Utf8("topic/0"), TopicAudience.Peers, limited: true));
        for (int left = Topics; left > 0; left -= TopicIndex.ReleasedAtOnce)
        {
            Assert.Equal(left, _counters.Snapshot().SubscriptionsOpen);
            Assert.Equal(left > TopicIndex.ReleasedAtOnce, index.ReleaseSome());
        }

        Assert.Equal(0, _counters.Snapshot().SubscriptionsOpen);
        Assert.False(index.Match(Utf8("topic/0"), TopicAudience.All).MoveNext());
    }

    [Fact]
    public async Task A_session_with_many_subscriptions_ends_by_itself_in_the_background()
    {
        var index = new TopicIndex(new RoutingOptions(), _counters);
        var session = new QuietSession();
        for (int i = 0; i < 1000; i++)
        {
            index.Subscribe(session.Session, Utf8($"topic/{i}"), TopicAudience.Peers);
        }

        session.Dispose();

        await Patience.UntilAsync(() => _counters.Snapshot().SubscriptionsOpen == 0, "all was released");
    }

    [Fact]
    public void A_publication_allocates_nothing_however_many_prefixes_match()
    {
        const int Sessions = 20;
        var index = new TopicIndex(new RoutingOptions(), _counters);
        var sessions = new List<QuietSession>();
        for (int i = 0; i < Sessions; i++)
        {
            sessions.Add(new QuietSession());
            foreach (string prefix in new[] { "", "a", "ab", "abc" })
            {
                index.Subscribe(sessions[i].Session, Utf8(prefix), TopicAudience.Peers);
            }
        }

        byte[] topic = Utf8("abcd");
        Publish();

        Assert.InRange(Allocations.LeastOf(Publish), 0, 0);
        sessions.ForEach(static s => s.Dispose());

        void Publish()
        {
            DeliveryMarks marks = DeliveryMarks.Begin();
            TopicIndex.Matches matches = index.Match(topic, TopicAudience.All);
            int visited = 0, marked = 0;
            while (matches.MoveNext())
            {
                foreach (Subscriber? subscriber in matches.Current.Members)
                {
                    visited += subscriber is null ? 0 : 1;
                    marked += subscriber is not null && marks.TryMark(subscriber) ? 1 : 0;
                }
            }

            marks.End();
            if ((visited, marked) != (4 * Sessions, Sessions))
            {
                throw new InvalidOperationException($"{visited} were visited, {marked} were new.");
            }
        }
    }

    [Fact]
    public void A_number_is_given_again_only_after_all_of_its_subscriptions_have_gone()
    {
        var index = new TopicIndex(new RoutingOptions(), _counters);
        using var first = new QuietSession();
        using var second = new QuietSession();
        using var third = new QuietSession();
        for (int i = 0; i < TopicIndex.ReleasedAtOnce + 1; i++)
        {
            index.Subscribe(first.Session, Utf8($"{i}"), TopicAudience.Peers);
        }

        Subscriber ended = Only("0");
        Assert.True(index.EndNeedsMore(first.Session));
        Assert.True(index.ReleaseSome());
        index.Subscribe(second.Session, Utf8("x"), TopicAudience.Peers);
        Assert.NotEqual(ended.Number, Only("x").Number);
        Assert.False(index.ReleaseSome());
        index.Subscribe(third.Session, Utf8("y"), TopicAudience.Peers);
        Assert.Equal(ended.Number, Only("y").Number);

        Subscriber Only(string topic)
        {
            TopicIndex.Matches matches = index.Match(Utf8(topic), TopicAudience.Peers);
            Assert.True(matches.MoveNext());
            return matches.Current.Members[0]!;
        }
    }

    [Fact]
    public void A_subscription_above_many_others_is_not_checked_against_each_of_them_again()
    {
        const int Topics = 999;
        var index = new TopicIndex(new RoutingOptions { MaxTopicChangesPerSecond = 10_000 }, _counters);
        using var session = new QuietSession();
        for (int i = 0; i < Topics; i++)
        {
            Assert.Equal(TopicChange.Made, index.Subscribe(session.Session, Utf8($"topic/{i:000}"), TopicAudience.Peers));
        }

        Assert.Equal(TopicChange.Made, index.Subscribe(session.Session, [], TopicAudience.Peers));
        TopicIndex.Matches matches = index.Match([], TopicAudience.Peers);
        Assert.True(matches.MoveNext());
        PrefixTrie<byte[]> own = matches.Current.Members[0]!.OfPeer;
        for (int i = 0; i < 10; i++)
        {
            Assert.Equal(TopicChange.Made, index.Unsubscribe(session.Session, [], TopicAudience.Peers, limited: true));
            Assert.Equal(TopicChange.Made, index.Subscribe(session.Session, [], TopicAudience.Peers));
            Assert.Equal((1, 0), (own.DepthBelow([], out int visited), visited));
        }
    }

    [Fact]
    public async Task Listing_the_subscriptions_of_peers_holds_up_no_change_of_others()
    {
        var index = new TopicIndex(new RoutingOptions(), _counters);
        using var first = new QuietSession();
        using var second = new QuietSession();
        index.Subscribe(first.Session, Utf8("a"), TopicAudience.Peers);
        index.Subscribe(second.Session, Utf8("b"), TopicAudience.Peers);
        index.Subscribe(second.Session, Utf8("program"), TopicAudience.Server);
        List<string> listed = [];

        foreach ((Session session, byte[] prefix) in index.ListOfPeers())
        {
            listed.Add(Encoding.UTF8.GetString(prefix));
            if (session == first.Session)
            {
                await Task.Run(() => index.Subscribe(second.Session, Utf8("c"), TopicAudience.Peers)).InTimeAsync();
            }
        }

        Assert.Equal(["a", "b", "c"], listed.Order());
    }

    private static byte[] Utf8(string text) => Encoding.UTF8.GetBytes(text);
}
