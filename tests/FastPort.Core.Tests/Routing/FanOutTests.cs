using FastPort.Routing;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Routing;

/// <summary>One publication to very many sessions does not keep the others of its loop waiting.</summary>
public sealed class FanOutTests : IDisposable
{
    private const int Subscribers = 1500;
    private const int AtOnce = LocalRouter.SessionsAtOnce;

    private readonly QuietSession _publisher = new(options: static o => o.Routing.SharedTopics = [""]);
    private readonly List<QuietSession> _subscribers = [.. Enumerable.Range(0, Subscribers).Select(static _ => new QuietSession())];

    public void Dispose()
    {
        _subscribers.ForEach(static s => s.Dispose());
        _publisher.Dispose();
    }

    [Fact]
    public void It_is_sent_to_some_sessions_in_each_turn_and_to_each_once()
    {
        SubscribeAll("a");

        List<int> turns = PublishInTurns("ab");

        Assert.InRange(turns.Count, 3, 4);
        Assert.True(turns.Max() <= AtOnce, $"{turns.Max()} sessions were sent to in one turn.");
        Assert.All(_subscribers, static s => Assert.Equal(1, Received(s)));
        Assert.Equal(Subscribers, _publisher.Counters.Snapshot().Delivered);
    }

    [Fact]
    public void Sessions_with_several_prefixes_get_it_once()
    {
        SubscribeAll("a");
        SubscribeAll("ab");

        List<int> turns = PublishInTurns("ab");

        Assert.True(turns.Max() <= AtOnce, $"{turns.Max()} sessions were sent to in one turn.");
        Assert.All(_subscribers, static s => Assert.Equal(1, Received(s)));
    }

    [Fact]
    public void Few_subscribers_among_many_are_one_turn()
    {
        SubscribeAll("other");
        foreach (QuietSession subscriber in _subscribers.Where(static (_, i) => i % 3 == 0))
        {
            _publisher.Routing.Subscribe(subscriber.Session, "a");
        }

        Assert.Equal([Subscribers / 3], PublishInTurns("a"));
    }

    [Fact]
    public void The_next_publication_waits_for_it_and_the_answer_counts_all()
    {
        SubscribeAll("a");
        _publisher.Connection.Arrive(PublishRequest(1, "a", [1]));
        _publisher.Connection.Arrive(PublishRequest(2, "a", [2]));

        _publisher.Connection.Offer();
        Assert.Empty(_publisher.Connection.SentTypes);
        Assert.True(_subscribers.TrueForAll(static s => Received(s) <= 1), "The second has overtaken the first.");
        _publisher.OfferAll();

        Assert.Equal([Publish, Publish], _publisher.Connection.SentTypes);
        Assert.All(_subscribers, static s => Assert.Equal(2, Received(s)));
        Assert.Equal(2 * Subscribers, _publisher.Counters.Snapshot().Delivered);
    }

    [Fact]
    public void Who_leaves_or_comes_between_two_turns_changes_nothing_for_the_others()
    {
        SubscribeAll("a");
        _publisher.Connection.Arrive(PublishRequest(1, "a", [1]));
        _publisher.Connection.Offer();
        QuietSession[] waiting = [.. _subscribers.Where(static s => Received(s) == 0)];
        QuietSession[] gone = [.. _subscribers.Where(static (_, i) => i % 2 == 0)];
        Array.ForEach(gone, s => _publisher.Routing.Unsubscribe(s.Session, "a"));
        using var late = new QuietSession();
        _publisher.Routing.Subscribe(late.Session, "a");

        _publisher.OfferAll();

        Assert.All(waiting, s => Assert.Equal(gone.Contains(s) ? 0 : 1, Received(s)));
        Assert.All(_subscribers.Except(waiting), static s => Assert.Equal(1, Received(s)));
    }

    [Fact]
    public void One_that_has_begun_is_finished_before_a_stop_ends_its_session()
    {
        SubscribeAll("a");
        _publisher.Connection.Arrive(PublishRequest(1, "a", [1]));
        _publisher.Connection.Offer();

        _publisher.Protocol.Stop(CloseReason.Stopping, TimeSpan.Zero, Patience.Limit);
        Assert.Null(_publisher.Connection.Reason);
        _publisher.OfferAll();

        Assert.Equal(Publish, Assert.Single(_publisher.Connection.SentTypes));
        Assert.All(_subscribers, static s => Assert.Equal(1, Received(s)));
        Assert.NotNull(_publisher.Connection.Reason);
    }

    [Fact]
    public void The_program_publishes_to_all_with_one_call()
    {
        SubscribeAll("a");

        Assert.Equal(Subscribers, _publisher.Routing.Publish("a", 1, [1]));

        Assert.All(_subscribers, static s => Assert.Equal(1, Received(s)));
    }

    private void SubscribeAll(string prefix) => _subscribers.ForEach(s =>
    {
        // As after its Hello.
        s.Protocol.Output.CanSendUnsolicited = true;
        Assert.True(_publisher.Routing.Subscribe(s.Session, prefix));
    });

    // How many sessions each turn sent to.
    private List<int> PublishInTurns(string topic)
    {
        _publisher.Connection.Arrive(Wire.Post(Publish, Envelope(topic, 1, [])));
        List<int> turns = [];
        int before = 0;
        do
        {
            _publisher.Connection.Offer();
            int now = _subscribers.Sum(Received);
            turns.Add(now - before);
            before = now;
        }
        while (turns[^1] != 0);
        return turns[..^1];
    }

    private static int Received(QuietSession session)
    {
        session.Connection.Flush();
        return session.Connection.SentTypes.Count;
    }
}
