using System.Text.Json;
using FastPort.Redis.Peers;
using FastPort.Redis.Relaying;
using FastPort.Redis.Tests.Support;
using FastPort.Routing;
using Xunit;

namespace FastPort.Redis.Tests.Peers;

public sealed class PeerQuestionsTests
{
    /// <summary>Questions would gather for as long as Redis is away, and who asks would wait.</summary>
    [RedisFact]
    public async Task Without_a_lease_nobody_is_asked()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis, hasLease: false);

        // It has no sessions that others could ask about.
        var questions = new PeerQuestions(links.Transport, links.Members, local: null!, "a", new FakeTimeProvider());

        Task<PeerInfo[]?> answer = questions.AskAsync(
            TestLinks.Other, new PeerQuestion(PeerAction.Find, "machine-7"), Patience.Token);

        Assert.True(answer.IsCompletedSuccessfully);
        Assert.Null(await answer);
        Assert.Null(links.Transport.FindLink(TestLinks.Other));
    }

    /// <summary>All of them would be one publication, larger than what Redis holds for a subscriber.</summary>
    [RedisFact]
    public async Task Of_pages_that_a_node_asks_for_at_once_no_more_than_its_window_gathers()
    {
        const int Asked = 40;
        const int PageBytes = 256 * 1024;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await links.OtherJoinsAsync();
        var peers = new LongNames(PageBytes);
        var questions = new PeerQuestions(links.Transport, links.Members, peers, "a", new FakeTimeProvider());
        byte[] question = JsonSerializer.SerializeToUtf8Bytes(new PeerQuestion(PeerAction.List, "", 1), PeerJson.Default.PeerQuestion);
        NodeLink link = links.Transport.LinkTo(TestLinks.Other);
        await links.ListenAsync(TestLinks.Other);
        links.Redis.Hold();
        Assert.True(questions.TryReceive(link, 0, question));
        HeldAnswer first = await links.Redis.NextAsync();

        for (int i = 1; i < Asked; i++)
        {
            Assert.True(questions.TryReceive(link, i, question));
        }

        await link.Listing.InTimeAsync();
        first.Give();
        HeldAnswer second = await links.Redis.NextAsync();

        // The first page, and what has gathered while it was sent.
        Assert.InRange(link.Read().BatchBytes, NodeLink.WindowBytes + PageBytes, NodeLink.WindowBytes + (3 * PageBytes));
        Assert.Equal((Asked, 1), (peers.Asked, peers.MostAtOnce));
        links.Redis.HoldNoMore();
        second.Give();
    }

    /// <summary>Who has asked has gone on without the answer.</summary>
    [RedisFact]
    public async Task A_page_whose_turn_comes_too_late_is_not_made()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TestLinks links = await TestLinks.StartAsync(redis);
        await links.OtherJoinsAsync();
        var time = new FakeTimeProvider();
        var peers = new LongNames(1);
        var questions = new PeerQuestions(links.Transport, links.Members, peers, "a", time);
        byte[] question = JsonSerializer.SerializeToUtf8Bytes(new PeerQuestion(PeerAction.List, "", 1), PeerJson.Default.PeerQuestion);
        NodeLink link = links.Transport.LinkTo(TestLinks.Other);
        var before = new TaskCompletionSource();
        link.Listing = before.Task;
        Assert.True(questions.TryReceive(link, 1, question));

        time.Advance(TimeSpan.FromSeconds(2));
        before.SetResult();

        await link.Listing.InTimeAsync();
        Assert.Equal(0, peers.Asked);
    }

    /// <summary>One session with a long name.</summary>
    private sealed class LongNames(int length) : IPeers
    {
        private readonly PeerInfo[] _page = [new(1, "id", new string('a', length), default, 0, 0, 0, 0)];
        private int _now;
        private int _asked;

        public int Asked => _asked;

        public int MostAtOnce { get; private set; }

        public ValueTask<PeerInfo?> FindAsync(string routingId, CancellationToken cancellationToken) => new((PeerInfo?)null);

        public ValueTask<bool> KickAsync(string routingId, ErrorCode code, string reason, CancellationToken cancellationToken) =>
            new(false);

        public async ValueTask<IReadOnlyList<PeerInfo>> ListAsync(
            string prefix, int limit, string after, CancellationToken cancellationToken)
        {
            Interlocked.Increment(ref _asked);
            MostAtOnce = Math.Max(MostAtOnce, Interlocked.Increment(ref _now));
            await Task.Yield();
            Interlocked.Decrement(ref _now);
            return _page;
        }
    }
}
