using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>One side ends its stream: what the other side learns, and what it may still do.</summary>
public sealed class EndOfStreamTests
{
    [Theory, EveryLink]
    public async Task The_end_is_told_once_after_all_bytes_and_answers_still_go_out(string link)
    {
        byte[] answer = new byte[500_000];
        new Random(3).NextBytes(answer);
        var server = new TestProtocol { StaysOpen = true };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        await raw.SendAsync([1, 2, 3]);
        raw.ShutdownSend();
        await Patience.UntilAsync(() => server.Ends.Count == 1, "the end was told");

        Assert.Equal([1, 2, 3], server.Received);
        Assert.Equal([false], server.Ends);
        Assert.False(server.Connection.IsClosing);
        Assert.True(await server.SendAsync(answer));
        server.Connection.Close(CloseReason.PeerClosed);
        if (raw.ReadsAfterShutdown)
        {
            Assert.Equal(answer, await raw.ReadAsync(answer.Length));
            await raw.ExpectEndAsync();
        }

        Assert.Equal(CloseReason.PeerClosed, await server.ClosedAsync());
        Assert.Equal(answer.Length, server.Connection.BytesSent);
        Assert.Single(server.Ends);
    }

    [Theory, EveryLink]
    public async Task Bytes_that_make_no_whole_message_are_told_with_the_end(string link)
    {
        var server = new TestProtocol { OnBytes = static _ => ReceiveOutcome.Continue };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        await raw.SendAsync([1, 2, 3]);
        await Patience.UntilAsync(() => server.Connection.BytesReceived == 3, "the bytes were received");
        raw.ShutdownSend();

        Assert.Equal(CloseReason.PeerTruncated, await server.ClosedAsync());
        Assert.Equal([true], server.Ends);
        await raw.ExpectGoneAsync();
    }

    [Theory, EveryLink]
    public async Task An_end_without_any_byte_is_an_end_in_order(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync();

        raw.ShutdownSend();

        Assert.Equal(CloseReason.PeerClosed, await server.ClosedAsync());
        Assert.Equal([false], server.Ends);
        await raw.ExpectEndAsync();
    }

    [Theory, EveryLink]
    public async Task A_paused_protocol_learns_of_the_end_after_it_has_seen_the_rest(string link)
    {
        var server = new TestProtocol { OnBytes = static _ => ReceiveOutcome.Pause };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        await raw.SendAsync([1, 2, 3]);
        await Patience.UntilAsync(() => server.Bursts == 1, "the bytes were offered");
        raw.ShutdownSend();
        Assert.Empty(server.Ends);
        server.OnBytes = server.Collect;
        server.Connection.ResumeReading();

        Assert.Equal(CloseReason.PeerClosed, await server.ClosedAsync());
        Assert.Equal([1, 2, 3], server.Received);
        Assert.Equal([false], server.Ends);
    }

    [Theory, EveryLink]
    public async Task A_close_sends_what_was_written_and_waits_for_the_peers_end(string link)
    {
        byte[] last = new byte[800_000];
        new Random(4).NextBytes(last);
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync();

        Assert.True(server.TryWrite(last));
        server.Connection.Close(new CloseReason(CloseKind.LocalClosed, "enough"));
        server.Connection.Close(new CloseReason(CloseKind.Stopping, "too late"));

        Assert.False(server.TryWrite([1]));
        Assert.True(server.Connection.IsClosing);
        Assert.Equal(last, await raw.ReadAsync(last.Length));
        await raw.ExpectEndAsync();
        Assert.False(server.Closed.IsCompleted);
        await raw.SendAsync([1, 2, 3]);
        raw.ShutdownSend();
        Assert.Equal("enough", (await server.ClosedAsync()).Message);
        Assert.Equal((0L, 0), (server.ReceivedBytes, server.Ends.Count));
    }

    [Theory, EveryLink]
    public async Task A_peer_that_never_ends_its_side_is_waited_for_a_bounded_time(string link)
    {
        var time = new FakeTimeProvider();
        await using TestLink open = TestLink.Open(link, static s => s with { DrainTimeout = TimeSpan.FromSeconds(3) }, time);
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync(new TestProtocol { StaysOpen = true });
        time.Advance(TimeSpan.FromMinutes(1));

        server.Connection.Close(CloseReason.LocalClosed);
        await raw.ExpectEndAsync();
        time.Advance(TimeSpan.FromSeconds(2.8));
        Assert.False(server.Closed.IsCompleted);

        // The time begins when the last byte is out, of which nothing tells but that it passes.
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromMilliseconds(100));
                return server.Closed.IsCompleted;
            },
            "the drain time had passed");

        Assert.Equal(CloseReason.LocalClosed, await server.ClosedAsync());
        await raw.ExpectGoneAsync();
    }

    [Theory, EveryLink]
    public async Task What_was_sent_before_an_end_in_order_can_be_read_when_the_sender_is_gone(string link)
    {
        var time = new FakeTimeProvider();
        await using TestLink open = TestLink.Open(link, time: time);
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync();
        byte[] last = Wire.Bytes(5_000);

        Assert.True(server.TryWrite(last));
        server.Connection.Close(CloseReason.LocalClosed);
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromMilliseconds(100));
                return server.Closed.IsCompleted;
            },
            "the drain time had passed");

        Assert.Equal(CloseReason.LocalClosed, await server.ClosedAsync());
        Assert.Equal(last, await raw.ReadAsync(last.Length));
        await raw.ExpectEndAsync();
    }

    [Theory, EveryLink]
    public async Task Both_sides_may_close_at_once(string link)
    {
        await using TestLink open = TestLink.Open(link);
        for (int i = 0; i < 30; i++)
        {
            (TestProtocol client, TestProtocol server) = await open.ConnectAsync(server: new TestProtocol());
            Task[] closing = [
                Task.Run(() => client.Connection.Close(CloseReason.LocalClosed)),
                Task.Run(() => server.Connection.Close(CloseReason.Stopping))];
            await Task.WhenAll(closing);

            // Whoever is later may have seen the other's end before.
            CloseReason[] seen = [await client.ClosedAsync(), await server.ClosedAsync()];
            Assert.Contains(seen[0], new[] { CloseReason.LocalClosed, CloseReason.PeerClosed });
            Assert.Contains(seen[1], new[] { CloseReason.Stopping, CloseReason.PeerClosed });
            Assert.NotEqual(seen[0], seen[1]);
        }
    }

    [Theory, EveryLink]
    public async Task All_that_was_accepted_before_a_close_arrives(string link)
    {
        var random = new Random(6);
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 256 * 1024 });
        for (int round = 0; round < 20; round++)
        {
            (TestProtocol client, TestProtocol server) = await open.ConnectAsync(server: new TestProtocol());
            int closeAt = random.Next(600_000);
            long accepted = 0;
            Task<long>[] writing = [.. Enumerable.Range(0, 2).Select(_ => Task.Run(async () =>
            {
                long written = 0;
                byte[] piece = new byte[3_000];
                while (!client.Connection.IsClosing)
                {
                    if (client.TryWrite(piece))
                    {
                        written += piece.Length;
                        client.Connection.Flush();
                        if (Interlocked.Add(ref accepted, piece.Length) > closeAt)
                        {
                            client.Connection.Close(CloseReason.LocalClosed);
                        }
                    }
                    else
                    {
                        await Task.Yield();
                    }
                }

                return written;
            }))];

            long[] written = await Task.WhenAll(writing).InTimeAsync();
            Assert.Equal(CloseReason.PeerClosed, await server.ClosedAsync());
            Assert.Equal(CloseReason.LocalClosed, await client.ClosedAsync());
            Assert.Equal(written.Sum(), server.ReceivedBytes);
        }
    }
}
