using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using FastPort.Dispatch;
using FastPort.Transports;
using FastPort.Transports.Epoll;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll;

/// <summary>
/// A spinning loop that polls its one busy connection: what must go on meanwhile, and how it ends. What holds for every connection holds for a polled one, too: the
/// suite of all transports runs over two more links that poll.
/// </summary>
public sealed class LoopPollingTests
{
    // Long enough that what a test does after the last message happens while the loop still polls, unless the machine is starved: then it holds all the same.
    private const int SpinMicroseconds = 200_000;

    private static readonly LinkKind TcpPolled = LinkKind.Tcp("tcp, polled for long", CreateTransport);
    private static readonly LinkKind UnixPolled = LinkKind.Unix("unix, polled for long", CreateTransport);

    [LinuxTheory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task One_connection_in_lock_step_is_polled_and_others_are_served_beside_it(int loops)
    {
        int polled = 0;
        await using TestServer server = await StartAsync(() => polled++, loops);
        using RawPeer first = await server.ConnectKnownAsync();
        using RawPeer second = await server.ConnectKnownAsync();
        for (int round = 0; round < 3; round++)
        {
            int before = Volatile.Read(ref polled);
            await CallUntilAsync(first, () => Volatile.Read(ref polled) - before >= 10);

            // The first is polled still when the second comes, and both are busy after that.
            for (uint i = 1; i <= 20; i++)
            {
                await second.SendAsync(Wire.Request(0x1100, i));
                await first.SendAsync(Wire.Request(0x1100, i));
                Assert.Equal((i, i), ((await second.ReadFrameAsync()).Correlation, (await first.ReadFrameAsync()).Correlation));
            }
        }
    }

    [LinuxTheory]
    [MemberData(nameof(Families))]
    public async Task One_that_always_has_more_to_say_keeps_no_other_waiting(string link)
    {
        bool talks = false;
        RawEnd? talker = null;
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(Get(link));
        talker = await UntilPolledAsync(
            open,
            server,
            () =>
            {
                if (Volatile.Read(ref talks))
                {
                    // Sent by the loop itself, so the next byte is there before it looks.
                    _ = talker!.SendAsync([1]);
                }
            });
        (RawEnd other, _) = await open.ConnectRawAsync(TestProtocol.Echo());
        long before = server.ReceivedBytes;
        Volatile.Write(ref talks, true);
        await talker.SendAsync([1]);

        for (byte i = 1; i <= 20; i++)
        {
            await server.ReceivedAsync(before += 100);
            await other.SendAsync([i]);
            Assert.Equal([i], await other.ReadAsync(1));
        }

        Volatile.Write(ref talks, false);
    }

    [LinuxTheory]
    [InlineData(1)]
    public async Task Who_posts_without_end_keeps_no_connection_of_the_loop_waiting(int loops)
    {
        var posting = new PostsItself();
        await using TestServer server = await StartAsync(posting.Begin, loops);
        using RawPeer first = await server.ConnectKnownAsync();
        using RawPeer second = await server.ConnectKnownAsync();

        await CallUntilAsync(first, () => posting.HasBegun);

        for (uint i = 1; i <= 3; i++)
        {
            Assert.Equal(i, (await first.CallAsync(Wire.Request(0x1100, i))).Correlation);
            Assert.Equal(i, (await second.CallAsync(Wire.Request(0x1100, i))).Correlation);
        }

        posting.End();
    }

    public static TheoryData<string> Families => [TcpPolled.Name, UnixPolled.Name];

    [LinuxTheory]
    [MemberData(nameof(Families))]
    public async Task What_others_send_meanwhile_arrives_however_much_the_socket_refuses(string link)
    {
        // More than the system ever holds for a peer that does not read: with tcp_wmem of 4 MiB it takes 4.2 million, or less where it is slow to grow.
        const int Bytes = 12_000_000;
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(Get(link));
        RawEnd raw = await UntilPolledAsync(open, server);

        Task<bool> sending = server.SendAsync(new byte[Bytes]);
        await Patience.UntilAsync(() => server.Connection.IsSendBlocked, "the socket took no more");

        Assert.Equal(Bytes, (await raw.ReadAsync(Bytes)).Length);
        Assert.True(await sending);
    }

    [LinuxTheory]
    [MemberData(nameof(Families))]
    public async Task After_the_last_of_many_messages_it_sleeps_and_wakes_up_for_the_next(string link)
    {
        EpollLoop? loop = null;
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(Get(link));
        RawEnd raw = await UntilPolledAsync(open, server, () => loop = EpollLoop.Current);
        for (int round = 0; round < 2; round++)
        {
            await Patience.UntilAsync(() => loop!.IsAsleep, "the loop slept");
            Assert.Equal(0, open.Pool.Outstanding);

            long before = server.ReceivedBytes;
            await raw.SendAsync([1, 2, 3]);
            await server.ReceivedAsync(before + 3);
        }
    }

    [LinuxTheory]
    [MemberData(nameof(Families))]
    public async Task A_connection_can_be_aborted_while_it_is_polled(string link)
    {
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(Get(link));
        RawEnd raw = await UntilPolledAsync(open, server);

        server.Connection.Abort(CloseReason.Stopping);

        Assert.Equal(CloseReason.Stopping, await server.ClosedAsync());
        await raw.ExpectGoneAsync();
    }

    [LinuxTheory]
    [MemberData(nameof(Families))]
    public async Task A_connection_can_be_closed_while_it_is_polled(string link)
    {
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(Get(link));
        RawEnd raw = await UntilPolledAsync(open, server);
        Assert.True(server.TryWrite([1, 2, 3]));

        server.Connection.Close(CloseReason.Stopping);

        Assert.Equal([1, 2, 3], await raw.ReadAsync(3));
        await raw.ExpectEndAsync();
        raw.ShutdownSend();
        Assert.Equal(CloseReason.Stopping, await server.ClosedAsync());
    }

    [LinuxTheory]
    [MemberData(nameof(Families))]
    public async Task The_end_of_a_polled_peer_is_noticed(string link)
    {
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(Get(link));
        RawEnd raw = await UntilPolledAsync(open, server);

        raw.ShutdownSend();

        Assert.Equal(CloseReason.PeerClosed, await server.ClosedAsync());
        await raw.ExpectEndAsync();
    }

    [LinuxTheory]
    [MemberData(nameof(Families))]
    public async Task Reading_can_be_paused_and_resumed_where_it_is_polled(string link)
    {
        bool pause = false;
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(Get(link));
        RawEnd raw = await UntilPolledAsync(open, server, pauses: () => Volatile.Read(ref pause));
        for (int round = 0; round < 3; round++)
        {
            long before = server.ReceivedBytes;
            int bursts = server.Bursts;

            Volatile.Write(ref pause, true);
            await raw.SendAsync([1, 2, 3]);
            await Patience.UntilAsync(() => server.Bursts > bursts, "the bytes were offered");
            Assert.Equal(before, server.ReceivedBytes);
            Volatile.Write(ref pause, false);
            server.Connection.ResumeReading();

            await server.ReceivedAsync(before + 3);
        }
    }

    private static EpollTransport CreateTransport() => new(new EpollOptions { Loops = 1, SpinMicroseconds = SpinMicroseconds, WaitsBeforeDirect = 1 });

    private static LinkKind Get(string name) => name == TcpPolled.Name ? TcpPolled : UnixPolled;

    private static Task<TestServer> StartAsync(Action polled, int loops) => TestServer.StartAsync(
        handlers => handlers.MapInline(
            0x1100,
            (ref InlineRequest request) =>
            {
                if (EpollLoop.Current!.IsPolling)
                {
                    polled();
                }

                request.Reply([]);
            }),
        options => (options.Transport, options.Loops, options.SpinMicroseconds) = (TransportKind.Epoll, loops, SpinMicroseconds));

    private static async Task CallUntilAsync(RawPeer peer, Func<bool> enough)
    {
        CancellationToken token = Patience.Token;
        for (uint i = 1; !enough(); i++)
        {
            Assert.False(token.IsCancellationRequested, "Nothing was polled.");
            Assert.Equal(i, (await peer.CallAsync(Wire.Request(0x1100, i))).Correlation);
        }
    }

    // A connection whose last byte was received by polling, and nobody else is at work.
    private static async Task<RawEnd> UntilPolledAsync(TestLink open, TestProtocol server, Action? seen = null, Func<bool>? pauses = null)
    {
        bool isPolled = false;
        server.OnBytes = input =>
        {
            if (pauses?.Invoke() == true)
            {
                return ReceiveOutcome.Pause;
            }

            seen?.Invoke();
            if (!Volatile.Read(ref isPolled))
            {
                // What the loop has sent once leaves a Unix socket watched for input alone, as one that is polled has to be.
                Assert.True(server.TryWrite([0]));
                Volatile.Write(ref isPolled, EpollLoop.Current!.IsPolling);
            }

            return server.Collect(input);
        };
        (RawEnd raw, _) = await open.ConnectRawAsync(server);
        CancellationToken token = Patience.Token;
        while (!Volatile.Read(ref isPolled))
        {
            Assert.False(token.IsCancellationRequested, "Nothing was polled.");
            long before = server.ReceivedBytes;
            await raw.SendAsync([1]);
            await server.ReceivedAsync(before + 1);
            Assert.Equal([0], await raw.ReadAsync(1));
        }

        return raw;
    }
}
