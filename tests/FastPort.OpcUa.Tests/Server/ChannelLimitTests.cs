using FastPort.Connections;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>At the limit the oldest channel without a session makes room (OPC 10000-4, 5.5.2).</summary>
public sealed class ChannelLimitTests
{
    [Fact]
    public async Task The_oldest_channel_without_a_session_goes_for_a_new_one()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.MaxSecureChannels = 3);
        await using OpcUaClient client = await server.ConnectAsync();
        List<RawChannel> strangers = [];
        for (int i = 0; i < 10; i++)
        {
            strangers.Add(await RawChannel.OpenAsync(server));
            if (i >= 2)
            {
                Assert.Equal(StatusCodes.BadSecureChannelClosed, await strangers[i - 2].ReceiveErrorAsync());
            }
        }

        await using OpcUaClient other = await server.ConnectAsync();
        Assert.Equal(StatusCodes.BadSecureChannelClosed, await strangers[8].ReceiveErrorAsync());
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
        Assert.Single(await other.ReadAsync([new NodeId(0, 2258)]));
        strangers.ForEach(static one => one.Dispose());
    }

    [Fact]
    public async Task A_connection_that_says_nothing_counts_as_a_channel()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.MaxSecureChannels = 2);
        using RawChannel silent = await RawChannel.ConnectAsync(server);
        await Patience.UntilAsync(() => server.Server.Channels.Count == 1, "it was counted");
        using RawChannel second = await RawChannel.OpenAsync(server);
        using RawChannel third = await RawChannel.OpenAsync(server);

        Assert.Equal(StatusCodes.BadSecureChannelClosed, await silent.ReceiveErrorAsync());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_channel_whose_session_has_ended_or_moved_gives_way_and_is_a_strangers_again(bool moves)
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.MaxSecureChannels = 2);
        using RawSession first = await RawSession.OpenAsync(server);
        ServerChannel channel = server.Server.Sessions.Find(first.Token)!.Channel!;
        Assert.True(channel.IsPeerKnown);
        RawSession? second = null;
        if (moves)
        {
            second = await RawSession.TakeOverAsync(server, first.Token);
        }
        else
        {
            await first.CallAsync<CloseSessionRequest, CloseSessionResponse>(default);
            second = await RawSession.OpenAsync(server);
        }

        using (second)
        {
            await Patience.UntilAsync(() => !channel.IsPeerKnown, "the channel has no session");
            using RawSession third = await RawSession.OpenAsync(server);

            Assert.Equal(StatusCodes.BadSecureChannelClosed, await first.Channel.ReceiveErrorAsync());
            await second.TryAsync<ReadRequest, ReadResponse>(default);
        }
    }

    [Fact]
    public async Task A_channel_whose_session_has_ended_takes_no_large_requests()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawSession session = await RawSession.OpenAsync(server);
        ServerChannel channel = server.Server.Sessions.Find(session.Token)!.Channel!;
        await session.CallAsync<CloseSessionRequest, CloseSessionResponse>(default);
        await Patience.UntilAsync(() => !channel.IsPeerKnown, "the channel has no session");

        await session.Channel.SendMessageAsync(new byte[60_000], MessageType.MessagePart);
        await session.Channel.SendMessageAsync(new byte[60_000]);

        Assert.Equal(StatusCodes.BadTcpMessageTooLarge, await session.Channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task A_request_that_has_begun_when_the_session_ends_is_read_to_its_end()
    {
        const int Part = 60_000;
        await using TestServer server = await TestServer.StartAsync();
        using RawSession session = await RawSession.OpenAsync(server);
        ServerSession served = server.Server.Sessions.Find(session.Token)!;
        ServerChannel channel = served.Channel!;
        Connection connection = session.Channel.ServedBy(server);
        long before = connection.BytesReceived;
        await session.Channel.SendMessageAsync(new byte[Part], MessageType.MessagePart);
        await session.Channel.SendMessageAsync(new byte[Part], MessageType.MessagePart);
        await Patience.UntilAsync(() => connection.BytesReceived > before + (2 * Part), "the parts have come");

        served.End(deletesSubscriptions: true);
        await Patience.UntilAsync(() => !channel.IsPeerKnown, "the channel has no session");
        await session.Channel.SendMessageAsync([]);

        // Not a request.
        Assert.Equal((ServiceFault.EncodingId, StatusCodes.BadServiceUnsupported), await session.Channel.ReceiveResponseAsync());
        await session.Channel.SendMessageAsync(new byte[Part], MessageType.MessagePart);
        await session.Channel.SendMessageAsync(new byte[Part]);
        Assert.Equal(StatusCodes.BadTcpMessageTooLarge, await session.Channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task Where_all_channels_have_sessions_the_new_one_is_refused_until_one_has_ended()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.MaxSecureChannels = 2);
        await using OpcUaClient first = await server.ConnectAsync();
        OpcUaClient second = await server.ConnectAsync();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync());

        Assert.Equal(StatusCodes.BadTcpServerTooBusy, e.Status);
        await second.DisposeAsync();
        await Patience.UntilAsync(() => server.Server.Channels.Count == 1, "its place was free");
        await using OpcUaClient third = await server.ConnectAsync();
        Assert.Single(await first.ReadAsync([new NodeId(0, 2258)]));
    }
}
