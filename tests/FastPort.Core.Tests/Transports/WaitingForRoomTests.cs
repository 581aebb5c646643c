using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>Writers that wait until the peer has taken what was written.</summary>
public sealed class WaitingForRoomTests
{
    private const int Bound = 256 * 1024;
    private static readonly byte[] Piece = Wire.Bytes(16 * 1024);

    [Theory, EveryLink]
    public async Task Many_wait_at_once_each_for_what_it_asked_for(string link)
    {
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = Bound });
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync(takesLittle: true);
        int sent = await FillAsync(server);
        Connection connection = server.Connection;

        long pending = connection.PendingBytes;
        Task<bool>[] waiting = [.. Enumerable.Range(0, 20).Select(i => connection.WaitForRoomAsync(pending * i / 20).AsTask())];
        Task notice = server.DrainedAsync(pending / 2);
        Assert.All(waiting, static wait => Assert.False(wait.IsCompleted));
        Assert.False(notice.IsCompleted);
        await raw.ReadAsync(sent);

        Assert.All(await Task.WhenAll(waiting).InTimeAsync(), Assert.True);
        await notice.InTimeAsync();
        Assert.Equal(1, server.Drains);
        Assert.Equal(-1, ((TransportConnection)connection).AwaitedPending);
    }

    [Theory, EveryLink]
    public async Task One_that_wants_less_does_not_hold_up_one_that_wants_more(string link)
    {
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = Bound });
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync(takesLittle: true);
        await FillAsync(server);
        Connection connection = server.Connection;

        long pending = connection.PendingBytes;
        Task<bool> some = connection.WaitForRoomAsync(pending - 1).AsTask();
        Task<bool> all = connection.WaitForRoomAsync(0).AsTask();
        for (int i = 0; !some.IsCompleted && i < 1_000; i++)
        {
            await raw.ReadAsync(1_000);
            await Task.Yield();
        }

        Assert.True(await some.InTimeAsync());
        Assert.False(all.IsCompleted && connection.PendingBytes > 0);
        connection.Abort(CloseReason.LocalClosed);
        await all.InTimeAsync();
    }

    [Theory, EveryLink]
    public async Task Where_there_is_room_nothing_is_allocated(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (_, TestProtocol server) = await open.ConnectAsync();
        Connection connection = server.Connection;

        Assert.Equal(0, Allocations.LeastOf(() =>
        {
            for (int i = 0; i < 100; i++)
            {
                ValueTask<bool> wait = connection.WaitForRoomAsync(0);
                Assert.True(wait.IsCompletedSuccessfully && wait.Result);
            }
        }));
    }

    [Theory, EveryLink]
    public async Task A_canceled_waiter_leaves_no_trace(string link)
    {
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = Bound });
        (_, TestProtocol server) = await open.ConnectRawAsync(takesLittle: true);
        await FillAsync(server);
        var connection = (TransportConnection)server.Connection;
        using var cancel = new CancellationTokenSource();
        Task<bool>[] waiting = [.. Enumerable.Range(0, 10).Select(i => connection.WaitForRoomAsync(i, cancel.Token).AsTask())];
        Assert.NotEqual(-1, connection.AwaitedPending);

        await cancel.CancelAsync();

        foreach (Task<bool> wait in waiting)
        {
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => wait.InTimeAsync());
        }

        Assert.Equal(-1, connection.AwaitedPending);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connection.WaitForRoomAsync(long.MaxValue, cancel.Token).AsTask());
    }

    /// <summary>Each once looked through all others, under a lock that the loop takes: this number took minutes.</summary>
    [Fact]
    public async Task Very_many_may_wait_and_give_up()
    {
        await using TestLink open = TestLink.Open(Links.All[0], static s => s with { MaxSendBytes = Bound });
        (_, TestProtocol server) = await open.ConnectRawAsync(takesLittle: true);
        await FillAsync(server);
        using var cancel = new CancellationTokenSource();

        await Task.Run(async () =>
        {
            Task<bool>[] waiting = new Task<bool>[200_000];
            for (int i = 0; i < waiting.Length; i++)
            {
                waiting[i] = server.Connection.WaitForRoomAsync(1, i % 2 == 0 ? cancel.Token : default).AsTask();
            }

            await cancel.CancelAsync();
            server.Connection.Abort(CloseReason.LocalClosed);
            await Task.WhenAll(waiting).ContinueWith(static _ => { }, TaskScheduler.Default);
            Assert.Equal(waiting.Length / 2, waiting.Count(static wait => wait.IsCanceled));
        }).InTimeAsync();
    }

    [Theory, EveryLink]
    public async Task The_end_is_told_to_all_that_wait_and_to_all_that_come_later(string link)
    {
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = Bound });
        foreach (Action<Connection> end in (
            Action<Connection>[])[static c => c.Close(CloseReason.LocalClosed), static c => c.Abort(CloseReason.LocalClosed)])
        {
            (_, TestProtocol server) = await open.ConnectRawAsync(takesLittle: true);
            await FillAsync(server);
            Connection connection = server.Connection;
            Task<bool>[] waiting = [.. Enumerable.Range(0, 5).Select(i => connection.WaitForRoomAsync(i).AsTask())];

            end(connection);

            Assert.All(await Task.WhenAll(waiting).InTimeAsync(), Assert.False);
            Assert.False(await connection.WaitForRoomAsync(long.MaxValue).InTimeAsync());
        }
    }

    [Theory, EveryLink]
    public async Task A_peer_that_is_gone_ends_the_wait(string link)
    {
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = Bound });
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync(takesLittle: true);
        await FillAsync(server);
        Task<bool> waiting = server.Connection.WaitForRoomAsync(0).AsTask();

        raw.Reset();

        Assert.False(await waiting.InTimeAsync());
    }

    [Theory, EveryLink]
    public async Task What_was_not_flushed_is_not_waited_for_in_vain(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (_, TestProtocol server) = await open.ConnectAsync();
        Assert.True(server.TryWrite(Piece));

        Assert.True(await server.Connection.WaitForRoomAsync(0).InTimeAsync());
    }

    [Fact]
    public async Task A_mark_below_zero_is_refused()
    {
        await using TestLink open = TestLink.Open(Links.All[0]);
        (_, TestProtocol server) = await open.ConnectAsync();

        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            "lowWater", async () => await server.Connection.WaitForRoomAsync(-1));
        Assert.Throws<ArgumentOutOfRangeException>("pendingBytes", () => server.Connection.NotifyWhenDrained(-1));
    }

    [Theory, EveryLink]
    public async Task Two_writers_that_wait_and_write_lose_no_notice(string link)
    {
        // Each wait is for the last byte of what is under way: a notice that is lost hangs the writer.
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();

        await Task.WhenAll(Enumerable.Range(0, 2).Select(_ => Task.Run(async () =>
        {
            for (int i = 0; i < 2_000; i++)
            {
                Assert.True(client.TryWrite(Piece.AsSpan(0, 100)));
                Assert.True(await client.Connection.WaitForRoomAsync(0).InTimeAsync());
            }
        })));

        await server.ReceivedAsync(2 * 2_000 * 100);
    }

    [Theory, EveryLink]
    public async Task A_message_of_256_MiB_goes_out_piece_by_piece_in_little_memory(string link)
    {
        const long Length = 256L * 1024 * 1024;
        const int LowWater = 256 * 1024;
        byte[] piece = Wire.Bytes(64 * 1024);
        long received = 0;
        bool wrong = false;
        var server = new TestProtocol
        {
            OnBytes = input =>
            {
                while (!input.IsEmpty)
                {
                    int at = (int)(received % piece.Length);
                    ReadOnlySpan<byte> bytes = input.FirstReadableSpan;
                    bytes = bytes[..Math.Min(bytes.Length, piece.Length - at)];
                    wrong |= !bytes.SequenceEqual(piece.AsSpan(at, bytes.Length));
                    input.Consume(bytes.Length);
                    Volatile.Write(ref received, received + bytes.Length);
                }

                return ReceiveOutcome.Continue;
            },
        };
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 1024 * 1024 });
        (TestProtocol client, _) = await open.ConnectAsync(server: server);

        for (long sent = 0; sent < Length; sent += piece.Length)
        {
            Assert.True(await client.Connection.WaitForRoomAsync(LowWater).InTimeAsync());
            Assert.True(client.TryWrite(piece));
            client.Connection.Flush();
            Assert.InRange(client.Connection.PendingBytes, 0, LowWater + piece.Length);
        }

        await Patience.UntilAsync(() => Volatile.Read(ref received) == Length, "all was received");
        Assert.False(wrong);
        Assert.InRange(open.Pool.PeakOutstandingBytes, 1, 4 * 1024 * 1024);
    }

    // Until nothing fits and the link takes no more, which it has a moment to think about.
    private static async Task<int> FillAsync(TestProtocol protocol)
    {
        int sent = 0;
        for (int refused = 0; refused < 5;)
        {
            if (protocol.TryWrite(Piece))
            {
                sent += Piece.Length;
                refused = 0;
            }
            else
            {
                await Patience.UntilAsync(
                    () => protocol.Connection.IsSendBlocked || protocol.Connection.PendingBytes == 0, "the link took what it takes");
                await Task.Delay(2);
                refused++;
            }

            protocol.Connection.Flush();
        }

        return sent;
    }
}
