using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Sessions.Receiving;

/// <summary>How much one session does before the others of its loop have their turn.</summary>
public sealed class TurnBudgetTests
{
    private const ushort Slow = 0x1001;
    private const ushort Brief = 0x1002;

    public static TheoryData<string, byte[]> Floods => new()
    {
        { "Ping", Wire.PingRequest(1) },
        { "Ping one-way", Wire.Post(Wire.Ping) },
        { "Cancel of nothing", Wire.CancelPost(0) },
        { "Cancel", Wire.CancelPost(7) },
        { "unknown type", Wire.Post(0x7777) },
        { "reply to nothing", Wire.Frame(TestServer.Echo, Wire.Reply, 7, []) },
        { "Subscribe", Wire.Post(Subscribe, Wire.Text(1, "a")) },
        { "Unsubscribe", Wire.Post(Unsubscribe, Wire.Text(1, "a")) },
        { "Publish", Wire.Post(Publish, Envelope("nobody", 1, [])) },
        { "Relay", RelayPost("nobody", []) },
        { "request", Wire.Request(TestServer.Echo, 1) },
    };

    [Theory]
    [MemberData(nameof(Floods))]
    public void A_flood_is_handled_in_turns_and_nothing_of_it_is_lost(string kind, byte[] frame)
    {
        const int Frames = 10_000;
        using QuietSession session = Start();
        for (int i = 0; i < Frames; i++)
        {
            session.Connection.Arrive(frame);
        }

        List<long> turns = session.OfferAll();

        Assert.True(turns.Max() <= 2048, $"{turns.Max()} frames of {kind} were handled in one turn.");
        Assert.Equal(Frames, turns.Sum());
    }

    [Fact]
    public void Bursts_add_up_to_a_turn()
    {
        using QuietSession session = Start();

        // A turn may end earlier, by its time, but not later: no burst alone comes near its number of frames.
        for (int i = 0; i < 2048; i++)
        {
            session.Connection.Receive(Wire.Post(Wire.Ping));
        }

        Assert.True(session.Connection.Resumes >= 1, "2048 frames in single bursts did not end the turn.");

        session.OfferAll();
        Assert.Equal(2048, session.Protocol.MessagesReceived);
    }

    [Fact]
    public void Slow_handlers_end_a_turn_before_its_frames_do()
    {
        using QuietSession session = Start();
        for (int i = 0; i < 160; i++)
        {
            session.Connection.Arrive(Wire.Post(Slow));
        }

        List<long> turns = session.OfferAll();

        // Nobody measures them: the session looks at the clock itself now and then.
        Assert.True(turns.Max() <= 16, $"{turns.Max()} slow frames were handled in one turn.");
        Assert.Equal(160, turns.Sum());
    }

    [Fact]
    public void Bursts_of_one_slow_frame_add_up_to_a_turn()
    {
        using QuietSession session = Start();

        session.Connection.Receive(Wire.Post(Slow));
        Assert.Equal(0, session.Connection.Resumes);
        session.Connection.Receive(Wire.Post(Slow));

        // One alone takes longer than a turn.
        Assert.Equal(1, session.Connection.Resumes);
    }

    [Fact]
    public void The_clock_is_read_again_in_the_same_burst()
    {
        using QuietSession session = Start();
        for (int i = 0; i < 160; i++)
        {
            session.Connection.Arrive(Wire.Post(Brief));
        }

        List<long> turns = session.OfferAll();

        // 16 of them take more than half of a turn.
        Assert.True(turns.Max() <= 32, $"{turns.Max()} frames were handled in one turn.");
        Assert.Equal(160, turns.Sum());
    }

    [Fact]
    public void After_short_frames_slow_ones_are_noticed_within_64()
    {
        using QuietSession session = Start();
        for (int i = 0; i < 16; i++)
        {
            session.Connection.Arrive(Wire.Post(Wire.Ping));
        }

        for (int i = 0; i < 160; i++)
        {
            session.Connection.Arrive(Wire.Post(Slow));
        }

        List<long> turns = session.OfferAll();

        Assert.True(turns[0] <= 16 + 64, $"{turns[0]} frames were handled in the first turn.");
        Assert.True(turns.Skip(1).Max() <= 16, $"{turns.Skip(1).Max()} slow frames were handled in one turn.");
        Assert.Equal(176, turns.Sum());
    }

    [Fact]
    public void A_publication_counts_for_each_session_that_it_is_sent_to()
    {
        const int Subscribers = 100;
        using QuietSession session = Start();
        var others = new List<QuietSession>();
        for (int i = 0; i < Subscribers; i++)
        {
            others.Add(new QuietSession());
            others[i].Protocol.Output.CanSendUnsolicited = true;
            session.Routing.Subscribe(others[i].Session, "");
        }

        for (int i = 0; i < 200; i++)
        {
            session.Connection.Arrive(Wire.Post(Publish, Envelope("a", 1, [])));
        }

        List<long> turns = session.OfferAll();

        Assert.True(turns.Max() <= (2048 / (Subscribers + 1)) + 1, $"{turns.Max()} publications were handled in one turn.");
        Assert.Equal(200, turns.Sum());
        others.ForEach(static o => o.Dispose());
    }

    [Fact]
    public void A_session_that_waits_for_its_turn_is_not_taken_for_idle_or_paused()
    {
        using QuietSession session = Start();
        for (int i = 0; i < 3000; i++)
        {
            session.Connection.Arrive(Wire.Request(TestServer.Echo, (uint)i + 1));
        }

        session.Connection.Offer();
        session.Protocol.Stop(FastPort.CloseReason.Stopping, TimeSpan.Zero, Patience.Limit);

        // Requests that were received are answered before it ends.
        Assert.Null(session.Connection.Reason);
        session.OfferAll();
        Assert.NotNull(session.Connection.Reason);
        Assert.Equal(3000, session.Connection.SentTypes.Count(static t => t == TestServer.Echo));
    }

    private static QuietSession Start() => new(
        static handlers => handlers
            .MapInline(TestServer.Echo, static (ref InlineRequest request) => request.Reply(default(EmptyBody)), "Nothing")
            .MapInline(Slow, static (ref InlineRequest _) => SpinFor(2_000_000), "Slow")
            .MapInline(Brief, static (ref InlineRequest _) => SpinFor(40_000), "Brief"),
        static options => options.Routing.SharedTopics = [""]);

    private static void SpinFor(long nanoseconds)
    {
        for (long start = MonotonicClock.Nanoseconds; MonotonicClock.Nanoseconds - start < nanoseconds;)
        {
            Thread.SpinWait(10);
        }
    }
}
