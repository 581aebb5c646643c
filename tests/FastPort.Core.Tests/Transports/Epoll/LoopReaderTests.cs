using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using FastPort.Dispatch;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll;

/// <summary>
/// A loop's reader: what it is for, and what must go on while it sleeps in the receive of a connection. What holds for every connection holds for its, too: the
/// suite of all transports runs over it as one more link.
/// </summary>
public sealed class LoopReaderTests
{
    private const string ByReader = "tcp by epoll's reader";

    [LinuxTheory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task One_connection_in_lock_step_is_received_by_the_reader_and_others_are_served_beside_it(int loops)
    {
        Thread? reader = null;
        int onReader = 0;
        TestServer server = await TestServer.StartAsync(
            handlers => handlers.MapInline(
                0x1100,
                (ref InlineRequest request) =>
                {
                    if (IsReader)
                    {
                        reader = Thread.CurrentThread;
                        onReader++;
                    }

                    request.Reply([]);
                }),
            options => (options.Transport, options.Loops, options.SpinMicroseconds) = (TransportKind.Epoll, loops, 0));
        await using (server)
        {
            using RawPeer first = await server.ConnectKnownAsync();
            using RawPeer second = await server.ConnectKnownAsync();
            for (int round = 0; round < 3; round++)
            {
                int before = Volatile.Read(ref onReader);
                await CallUntilAsync(first, () => Volatile.Read(ref onReader) - before >= 10);

                // Each of these is the loop's own, whatever the reader has; and so is the first's that comes together with them.
                for (uint i = 1; i <= 20; i++)
                {
                    await first.SendAsync(Wire.Request(0x1100, i));
                    await second.SendAsync(Wire.Request(0x1100, i));
                    Assert.Equal((i, i), ((await second.ReadFrameAsync()).Correlation, (await first.ReadFrameAsync()).Correlation));
                }
            }
        }

        await Patience.UntilAsync(() => !reader!.IsAlive, "the reader ended with its loop");
    }

    // So short that it sleeps before the next request comes, as if it had not spun.
    [LinuxTheory]
    [InlineData(1)]
    public async Task A_loop_that_was_told_to_spin_has_none(int spinMicroseconds)
    {
        bool onReader = false;
        await using TestServer server = await TestServer.StartAsync(
            handlers => handlers.MapInline(
                0x1100,
                (ref InlineRequest request) =>
                {
                    onReader |= IsReader;
                    request.Reply([]);
                }),
            options => (options.Transport, options.Loops, options.SpinMicroseconds) = (TransportKind.Epoll, 1, spinMicroseconds));
        using RawPeer peer = await server.ConnectKnownAsync();

        int calls = 0;
        await CallUntilAsync(peer, () => ++calls > 1_000);

        Assert.False(Volatile.Read(ref onReader));
    }

    [LinuxTheory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task It_is_bound_to_the_core_of_its_loop(int loops)
    {
        string? loopsCores = null;
        string? readersCores = null;
        await using TestServer server = await TestServer.StartAsync(
            handlers => handlers.MapInline(
                0x1100,
                (ref InlineRequest request) =>
                {
                    (IsReader ? ref readersCores : ref loopsCores) = PinningTests.AllowedCores();
                    request.Reply([]);
                }),
            options => (options.Transport, options.Loops, options.SpinMicroseconds, options.PinLoops) = (TransportKind.Epoll, loops, 0, true));
        using RawPeer peer = await server.ConnectKnownAsync();

        await CallUntilAsync(peer, () => Volatile.Read(ref readersCores) is not null);

        Assert.NotNull(loopsCores);
        Assert.Equal(loopsCores, readersCores);
    }

    [LinuxTheory]
    [InlineData(1)]
    public async Task Who_posts_without_end_keeps_no_connection_of_the_loop_waiting(int loops)
    {
        var posting = new PostsItself();
        await using TestServer server = await TestServer.StartAsync(
            handlers => handlers.MapInline(
                0x1100,
                (ref InlineRequest request) =>
                {
                    if (IsReader)
                    {
                        posting.Begin();
                    }

                    request.Reply([]);
                }),
            options => (options.Transport, options.Loops, options.SpinMicroseconds) = (TransportKind.Epoll, loops, 0));
        using RawPeer first = await server.ConnectKnownAsync();
        using RawPeer second = await server.ConnectKnownAsync();

        await CallUntilAsync(first, () => posting.HasBegun);

        for (uint i = 1; i <= 3; i++)
        {
            Assert.Equal(i, (await second.CallAsync(Wire.Request(0x1100, i))).Correlation);
            Assert.Equal(i, (await first.CallAsync(Wire.Request(0x1100, i))).Correlation);
        }

        posting.End();
    }

    [LinuxTheory]
    [InlineData(ByReader)]
    public async Task What_others_send_while_the_reader_sleeps_arrives_though_the_socket_blocks(string link)
    {
        // More than the system ever holds for a peer that does not read: with tcp_wmem of 4 MiB it takes 4.2 million, or less where it is slow to grow.
        const int Bytes = 12_000_000;
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(link);
        RawEnd raw = await UntilReceivedByReaderAsync(open, server);

        Task<bool> sending = server.SendAsync(new byte[Bytes]);
        await Patience.UntilAsync(() => server.Connection.IsSendBlocked, "the socket took no more");

        Assert.Equal(Bytes, (await raw.ReadAsync(Bytes)).Length);
        Assert.True(await sending);
    }

    [LinuxTheory]
    [InlineData(ByReader)]
    public async Task A_connection_can_be_aborted_while_the_reader_sleeps(string link)
    {
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(link);
        RawEnd raw = await UntilReceivedByReaderAsync(open, server);

        server.Connection.Abort(CloseReason.Stopping);

        Assert.Equal(CloseReason.Stopping, await server.ClosedAsync());
        await raw.ExpectGoneAsync();
    }

    [LinuxTheory]
    [InlineData(ByReader)]
    public async Task A_connection_can_be_closed_while_the_reader_sleeps(string link)
    {
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(link);
        RawEnd raw = await UntilReceivedByReaderAsync(open, server);
        Assert.True(server.TryWrite([1, 2, 3]));

        server.Connection.Close(CloseReason.Stopping);

        Assert.Equal([1, 2, 3], await raw.ReadAsync(3));
        await raw.ExpectEndAsync();
        raw.ShutdownSend();
        Assert.Equal(CloseReason.Stopping, await server.ClosedAsync());
    }

    [LinuxTheory]
    [InlineData(ByReader)]
    public async Task Reading_can_be_paused_and_resumed_where_the_reader_receives(string link)
    {
        bool pause = false;
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(link);
        RawEnd raw = await UntilReceivedByReaderAsync(open, server, () => Volatile.Read(ref pause));
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

    private static bool IsReader => Thread.CurrentThread.Name?.EndsWith("reader", StringComparison.Ordinal) == true;

    private static async Task CallUntilAsync(RawPeer peer, Func<bool> enough)
    {
        CancellationToken token = Patience.Token;
        for (uint i = 1; !enough(); i++)
        {
            Assert.False(token.IsCancellationRequested, "The reader received nothing.");
            Assert.Equal(i, (await peer.CallAsync(Wire.Request(0x1100, i))).Correlation);
        }
    }

    // A connection whose last byte the reader has received, and nobody else is at work.
    private static async Task<RawEnd> UntilReceivedByReaderAsync(TestLink open, TestProtocol server, Func<bool>? pauses = null)
    {
        bool byReader = false;
        server.OnBytes = input =>
        {
            if (pauses?.Invoke() == true)
            {
                return ReceiveOutcome.Pause;
            }

            byReader = IsReader;
            return server.Collect(input);
        };
        (RawEnd raw, _) = await open.ConnectRawAsync(server);
        CancellationToken token = Patience.Token;
        while (!Volatile.Read(ref byReader))
        {
            Assert.False(token.IsCancellationRequested, "The reader received nothing.");
            long before = server.ReceivedBytes;
            await raw.SendAsync([1]);
            await server.ReceivedAsync(before + 1);
        }

        return raw;
    }
}
