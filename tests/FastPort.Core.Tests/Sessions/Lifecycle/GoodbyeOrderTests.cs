using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

/// <summary>After its Goodbye a side sends replies only, whoever writes on whatever thread when it is said.</summary>
public sealed class GoodbyeOrderTests
{
    [Fact]
    public async Task No_one_way_message_follows_a_Goodbye_however_many_threads_send()
    {
        await using TestServer server = await TestServer.StartAsync(h => h.MapInline(0x1001, (ref InlineRequest r) =>
        {
            for (int i = 0; i < 4; i++)
            {
                r.Session.TrySend(0x1002, [1]);
            }
        }));
        for (int round = 0; round < 60; round++)
        {
            using RawPeer peer = await server.ConnectAsync();
            await peer.SayHelloAsync();
            Session session = await server.SessionAsync(round);
            Task[] senders = [
                .. Enumerable.Range(0, 2).Select(_ => Task.Run(() => SendUntilRefused(session, batches: false))),
                Task.Run(() => SendUntilRefused(session, batches: true))];
            await peer.SendAsync([.. Enumerable.Range(0, 50).Select(static i => Wire.Request(0x1001, (uint)i + 1))]);
            _ = session.CloseAsync();

            bool goodbye = false;
            while (await peer.ReadAsync() is { } frame)
            {
                Assert.False(
                    goodbye && (frame.Flags & Wire.Reply) == 0,
                    $"Round {round}: a message of type 0x{frame.Type:X4} followed the Goodbye.");
                goodbye |= frame.Type == Wire.Goodbye;
            }

            Assert.True(goodbye);
            await Task.WhenAll(senders).InTimeAsync();
        }
    }

    [Fact]
    public async Task What_the_loop_wrote_while_the_socket_was_blocked_goes_before_the_Goodbye()
    {
        // More than the system holds for a peer that does not read.
        const int Messages = 200;
        byte[] body = new byte[60_000];
        var last = new TaskCompletionSource<SendStatus>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await TestServer.StartAsync(
            handlers => handlers
                .MapInline(0x1001, (ref InlineRequest request) =>
                {
                    for (int i = 0; i < Messages; i++)
                    {
                        Assert.Equal(SendStatus.Queued, request.Session.TrySend(0x1002, body));
                    }
                })
                .MapInline(0x1003, (ref InlineRequest request) => last.SetResult(request.Session.TrySend(0x1004, [1]))),
            options => options.Session.SendQueueBytes = 64 * 1024 * 1024);
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        await peer.SendAsync(Wire.Request(0x1001, 1));

        // It is there, so the loop has sent what the socket took, and is told when that takes more.
        List<WireFrame> frames = [await peer.ReadFrameAsync()];
        await peer.SendAsync(Wire.Request(0x1003, 2));
        Assert.Equal(SendStatus.Queued, await last.Task.InTimeAsync());

        _ = session.CloseAsync();

        while (await peer.ReadAsync() is { } frame)
        {
            frames.Add(frame);
        }

        Assert.Equal(
            [.. Enumerable.Repeat((ushort)0x1002, Messages), 0x1004, Wire.Goodbye], frames.Where(static f => (f.Flags & Wire.Reply) == 0)
                .Select(static f => f.Type));
    }

    [Fact]
    public async Task Pings_keep_a_session_that_ends_alive_until_its_replies_are_out()
    {
        var time = new FakeTimeProvider();
        var answer = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1001, async _ => await answer.Task),
            static o =>
            {
                o.Session.HeartbeatInterval = TimeSpan.FromMinutes(1);
                o.Session.CloseTimeout = TimeSpan.FromHours(1);
            },
            h => h.Time = time);
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        await peer.SendAsync(Wire.Request(0x1001, 1));
        await peer.PingAsync();

        _ = session.CloseAsync();
        Assert.Equal(Wire.Goodbye, (await peer.ReadFrameAsync()).Type);
        for (int minutes = 0; minutes < 10; minutes++)
        {
            Task<WireFrame> ping = peer.ReadFrameAsync();
            await Patience.UntilAsync(
                () =>
                {
                    time.Advance(TimeSpan.FromSeconds(1));
                    return ping.IsCompleted;
                },
                "a Ping came");
            Assert.Equal(Wire.Ping, (await ping).Type);
            long before = session.Connection.BytesReceived;
            await peer.SendAsync(Wire.Frame(Wire.Ping, Wire.Reply, (await ping).Correlation, []));
            await Patience.UntilAsync(() => session.Connection.BytesReceived > before, "the answer arrived");
        }

        answer.SetResult();

        WireFrame reply = await peer.ReadFrameAsync();
        Assert.Equal((0x1001, 1u), (reply.Type, reply.Correlation));
    }

    private static void SendUntilRefused(Session session, bool batches)
    {
        SendStatus status;
        do
        {
            if (batches)
            {
                using SendBatch batch = session.BeginBatch();
                batch.TrySend(0x1003, [1]);
                status = batch.TrySend(0x1003, [2]);
            }
            else
            {
                status = session.TrySend(0x1004, [1]);
            }

            Thread.Yield();
        }
        while (status is SendStatus.Queued && session.MessagesSent < 1_000);
    }
}
