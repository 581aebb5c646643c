using FastPort.OpcUa.Client;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

public sealed class SessionTests
{
    [Fact]
    public async Task Sessions_that_nobody_activates_do_not_keep_others_out()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.MaxSessions = 3);
        using RawChannel stranger = await RawChannel.OpenAsync(server);
        for (int i = 0; i < 10; i++)
        {
            await stranger.SendMessageAsync(RawChannel.Request(new Services.CreateSessionRequest { RequestedSessionTimeout = 3_600_000 }));
            Assert.Equal(StatusCodes.Good, (await stranger.ReceiveResponseAsync()).Status);
        }

        await using OpcUaClient client = await server.ConnectAsync();
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
        Assert.Equal(3, server.Server.SessionCount);
    }

    [Fact]
    public async Task Sessions_in_use_are_not_given_to_others()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.MaxSessions = 1);
        await using OpcUaClient client = await server.ConnectAsync();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync());

        Assert.Equal(StatusCodes.BadTooManySessions, e.Status);
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
    }
}
