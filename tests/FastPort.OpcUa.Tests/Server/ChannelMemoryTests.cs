using FastPort.Connections;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>What clients can make a server hold with requests that they do not finish.</summary>
public sealed class ChannelMemoryTests
{
    private const int Chunk = 60_000;

    [Fact]
    public async Task Before_a_session_is_activated_a_request_has_at_most_64_KiB()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawChannel channel = await RawChannel.OpenAsync(server);
        await channel.SendMessageAsync(new byte[Chunk], MessageType.MessagePart);
        await channel.SendMessageAsync(new byte[(64 * 1024) - Chunk + 1]);
        Assert.Equal(StatusCodes.BadTcpMessageTooLarge, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task Before_a_session_is_activated_a_request_has_at_most_16_chunks()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawChannel channel = await RawChannel.OpenAsync(server);
        for (int i = 0; i < 17; i++)
        {
            await channel.SendMessageAsync([1], MessageType.MessagePart);
        }

        Assert.Equal(StatusCodes.BadTcpMessageTooLarge, await channel.ReceiveErrorAsync());
    }

    [Fact]
    public async Task With_a_session_a_request_may_be_large()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawSession session = await RawSession.OpenAsync(server);
        for (int i = 0; i < 50; i++)
        {
            await session.Channel.SendMessageAsync(new byte[Chunk], MessageType.MessagePart);
        }

        // Not a request, but it was read to its end.
        await session.Channel.SendMessageAsync([]);
        Assert.Equal((ServiceFault.EncodingId, StatusCodes.BadServiceUnsupported), await session.Channel.ReceiveResponseAsync());
    }

    [Fact]
    public async Task Strangers_with_unfinished_requests_are_closed_at_the_budget_and_sessions_are_served()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.MaxBufferedMegabytes = 4);
        await using OpcUaClient client = await server.ConnectAsync();
        List<RawChannel> strangers = [];
        for (int i = 0; i < 200; i++)
        {
            RawChannel stranger = await RawChannel.OpenAsync(server);
            strangers.Add(stranger);
            Connection served = stranger.ServedBy(server);
            long sent = served.BytesReceived;

            // A part of a message, and a part of the chunk that follows it. The ring grows for its last bytes, as they come later.
            await TrySendAsync(stranger, [.. "MSGF"u8, .. BitConverter.GetBytes(65_535), .. new byte[Chunk]]);
            await Patience.UntilAsync(() => served.Closed.IsCompleted || served.BytesReceived > sent + Chunk, "the part was read");
            await TrySendAsync(stranger, new byte[5000]);
        }

        // Each of them holds 64 KiB that count.
        await Patience.UntilAsync(() => server.Server.Channels.Count <= 1 + 64, "the budget was kept");
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
        strangers.ForEach(static one => one.Dispose());
    }

    [Fact]
    public async Task Sessions_with_unfinished_requests_are_told_at_the_budget_and_the_others_are_served()
    {
        const int Parts = 20, Batch = 10;
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.MaxBufferedMegabytes = 8, time: time);
        await using OpcUaClient client = await server.ConnectAsync();
        List<RawSession> sessions = [];
        List<Task<StatusCode>> told = [];
        for (int i = 1; i <= 10 * Batch; i++)
        {
            RawSession session = await RawSession.OpenAsync(server);
            sessions.Add(session);
            for (int part = 0; part < Parts; part++)
            {
                await session.Channel.SendMessageAsync(new byte[Chunk], MessageType.MessagePart);
            }

            told.Add(ToldAsync(session));
            if (i % Batch == 0)
            {
                // Who is late for less than a second is in the middle of a transfer.
                time.Advance(TimeSpan.FromSeconds(2));

                // Each of them holds more than 1 MiB.
                await Patience.UntilAsync(() => server.Server.Channels.Count <= 1 + 8, "the budget was kept");
                Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
            }
        }

        StatusCode[] statuses = [.. told.Where(static one => one.IsCompletedSuccessfully).Select(static one => one.Result)];
        Assert.NotEmpty(statuses);
        Assert.All(statuses, static status => Assert.Equal(StatusCodes.BadTcpNotEnoughResources, status));
        sessions.ForEach(static one => one.Dispose());
    }

    private static async Task<StatusCode> ToldAsync(RawSession session)
    {
        using (session)
        {
            return await session.Channel.ReceiveErrorAsync();
        }
    }

    private static async Task TrySendAsync(RawChannel channel, byte[] bytes)
    {
        try
        {
            await channel.SendBytesAsync(bytes);
        }
        catch (IOException)
        {
            // Closed already.
        }
    }
}
