using FastPort.Protocol;
using FastPort.Testing;
using Microsoft.Extensions.DependencyInjection;
using OwnMessages;
using Xunit;

public sealed class PlayerServiceTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_step_leads_from_10_10()
    {
        await using TestServer test = await TestServer.StartAsync(
            builder => builder.MapService<PlayerService>(ServiceLifetime.Singleton), cancellationToken: Token);

        Position position = await new PlayerClient(test.Client).MoveAsync(new Step { Dx = 1 }, cancellationToken: Token);

        Assert.Equal(new Position { X = 11, Y = 10 }, position);
    }
}
