using FastPort.Core.Tests.Support;
using FastPort.Redis.Peers;
using FastPort.Redis.Tests.Support;
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

        Task<FastPort.Routing.PeerInfo[]?> answer = questions.AskAsync(
            TestLinks.Other, new PeerQuestion(PeerAction.Find, "machine-7"), Patience.Token);

        Assert.True(answer.IsCompletedSuccessfully);
        Assert.Null(await answer);
        Assert.Null(links.Transport.FindLink(TestLinks.Other));
    }
}
