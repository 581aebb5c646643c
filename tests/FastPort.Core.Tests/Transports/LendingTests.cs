using System.Collections.Concurrent;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>Bytes sent from where they lie: in order with the copied ones, and each owner is told exactly once.</summary>
public sealed class LendingTests
{
    [Theory, EveryLink]
    public async Task Lent_and_copied_bytes_arrive_in_the_order_they_were_written(string link)
    {
        var random = new Random(13);
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 300_000, MaxReceiveBytes = 200_000 });
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();
        List<byte> sent = [];
        List<BorrowedBuffer> lent = [];

        for (int i = 0; i < 400; i++)
        {
            byte[] piece = new byte[random.Next(3) == 0 ? random.Next(1, 60_000) : random.Next(1, 500)];
            random.NextBytes(piece);
            if (random.Next(2) == 0)
            {
                Assert.True(await client.SendAsync(piece, piece.Length));
            }
            else
            {
                var buffer = new BorrowedBuffer(piece.AsSpan().ToArray());
                while (!client.TryLend(buffer.Bytes, BorrowedBuffer.Release, buffer))
                {
                    client.Connection.Flush();
                    await client.DrainedAsync(0).InTimeAsync();
                }

                lent.Add(buffer);
            }

            sent.AddRange(piece);
            if (random.Next(4) == 0)
            {
                client.Connection.Flush();
            }
        }

        client.Connection.Flush();
        await server.ReceivedAsync(sent.Count);
        Assert.True(sent.ToArray().AsSpan().SequenceEqual(server.Received));
        await AllReleasedAsync(lent);

        // The peer may have read what the sender has not booked yet.
        await Patience.UntilAsync(() => client.Connection.PendingBytes == 0, "everything was booked");
        Assert.Equal(sent.Count, client.Connection.BytesSent);
    }

    /// <summary>No tick and no burst sends it: the test's clock stands still.</summary>
    [Theory, EveryLink]
    public async Task What_a_release_writes_is_sent_at_once(string link)
    {
        const int Lent = 64 * 1024;
        await using TestLink open = TestLink.Open(link, static s => s with { Clock = new ConnectionClock(new FakeTimeProvider()) });
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();

        server.Connection.Post(
            _ => server.TryLend(
                new byte[Lent],
                _ =>
                {
                    server.TryWrite([1, 2, 3]);
                    server.Connection.Flush();
                },
                null),
            null);

        await client.ReceivedAsync(Lent + 3);
    }

    [Theory, EveryLink]
    public async Task A_release_at_the_end_of_a_refused_write_holds_no_other_writer_up(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, _) = await open.ConnectAsync();
        bool wentOn = false;

        // On one thread, as a write is.
        await Task.Run(() =>
        {
            Assert.NotNull(client.Connection.BeginWrite());
            Assert.True(client.Connection.TryWriteBorrowed(
                new byte[100],
                _ => wentOn = Task.Run(() => client.Connection.BeginWrite() is null).Wait(Patience.Limit),
                null));
            client.Connection.Abort(CloseReason.LocalClosed);
            Assert.True(client.Closed.Wait(Patience.Limit));
            client.Connection.EndWrite();
        }).InTimeAsync();

        Assert.True(wentOn);
    }

    /// <summary>A thread that sends may hold locks that whoever is told of the end takes.</summary>
    [Theory, EveryLink]
    public async Task The_end_is_not_told_on_the_stack_of_a_thread_that_sends(string link)
    {
        var gate = new object();
        bool toldUnderGate = false;
        var told = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, _) = await open.ConnectAsync();

        void Release(object? state)
        {
            client.Connection.Abort(CloseReason.LocalClosed);
            while (!client.Connection.IsOnLoop && client.Connection.BeginWrite() is not null)
            {
                // Until the loop has ended the connection, unless it is the loop that sends.
                client.Connection.EndWrite();
                Thread.Sleep(0);
            }

            // Runs with the last calls of the protocol.
            client.Connection.Post(
                _ =>
                {
                    toldUnderGate = Monitor.IsEntered(gate);
                    told.SetResult();
                },
                null);
        }

        await Task.Run(() =>
        {
            lock (gate)
            {
                // So much that this thread sends it itself on every link.
                Assert.True(client.TryLend(new byte[40_000], Release, null));
                client.Connection.Flush();
            }
        }).InTimeAsync();

        await told.Task.InTimeAsync();
        await client.ClosedAsync();
        Assert.False(toldUnderGate);
    }

    [Theory, EveryLink]
    public async Task Lent_bytes_may_be_taken_in_any_portions(string link)
    {
        var random = new Random(14);
        var server = new TestProtocol();
        server.OnBytes = input =>
        {
            // Leaves up to 100 bytes for later, which then lie before those that follow.
            int leave = Math.Min(input.Length, random.Next(100));
            byte[] taken = new byte[input.Length - leave];
            input.CopyTo(0, taken);
            input.Consume(taken.Length);
            server.TryWrite(taken);
            return ReceiveOutcome.Continue;
        };
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, _) = await open.ConnectAsync(server: server);
        List<byte> sent = [];
        List<BorrowedBuffer> lent = [];

        for (int i = 0; i < 100; i++)
        {
            byte[] piece = new byte[random.Next(1, 40_000)];
            random.NextBytes(piece);
            var buffer = new BorrowedBuffer(piece.AsSpan().ToArray());
            Assert.True(client.TryWrite(piece.AsSpan(0, 1)));
            while (!client.TryLend(buffer.Bytes, BorrowedBuffer.Release, buffer))
            {
                client.Connection.Flush();
                await client.DrainedAsync(0).InTimeAsync();
            }

            sent.Add(piece[0]);
            sent.AddRange(piece);
            lent.Add(buffer);
            client.Connection.Flush();
        }

        // What was left last comes with this.
        Assert.True(await client.SendAsync(new byte[200]));
        await client.ReceivedAsync(sent.Count);
        Assert.True(sent.ToArray().AsSpan().SequenceEqual(client.Received.AsSpan(0, sent.Count)));
        await AllReleasedAsync(lent);
    }

    [Theory, EveryLink]
    public async Task A_message_that_spans_several_lent_pieces_needs_only_one_of_them_at_a_time(string link)
    {
        // The peer consumes nothing before it has all, the owner lends the next piece when it has the last one back.
        const int Pieces = 10;
        var server = new TestProtocol();
        server.OnBytes = input => input.Length < Pieces * 50_000 ? ReceiveOutcome.Continue : server.Collect(input);
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, _) = await open.ConnectAsync(server: server);

        for (int i = 0; i < Pieces; i++)
        {
            var buffer = new BorrowedBuffer(50_000);
            Assert.True(client.TryLend(buffer.Bytes, BorrowedBuffer.Release, buffer));
            client.Connection.Flush();
            await AllReleasedAsync([buffer]);
        }

        await server.ReceivedAsync(Pieces * 50_000);
    }

    [Theory, EveryLink]
    public async Task What_a_protocol_has_consumed_is_released_though_it_pauses(string link)
    {
        var server = new TestProtocol();
        server.OnBytes = input =>
        {
            server.Collect(input);
            return server.ReceivedBytes < 20_010 ? ReceiveOutcome.Continue : ReceiveOutcome.Pause;
        };
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, _) = await open.ConnectAsync(server: server);
        var first = new BorrowedBuffer(20_000);
        var second = new BorrowedBuffer(30_000);

        Assert.True(client.TryWrite(new byte[10]));
        Assert.True(client.TryLend(first.Bytes, BorrowedBuffer.Release, first));
        client.Connection.Flush();
        await server.ReceivedAsync(20_010);
        await AllReleasedAsync([first]);
        Assert.True(client.TryLend(second.Bytes, BorrowedBuffer.Release, second));
        client.Connection.Flush();
        server.OnBytes = server.Collect;
        server.Connection.ResumeReading();

        await server.ReceivedAsync(50_010);
        await AllReleasedAsync([second]);
    }

    [Theory, EveryLink]
    public async Task All_is_released_once_before_the_end_whoever_aborts_and_whenever(string link)
    {
        var random = new Random(15);
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 500_000 });
        for (int round = 0; round < 30; round++)
        {
            bool reads = round % 3 != 0;
            var server = new TestProtocol();
            server.OnBytes = reads ? server.Collect : static _ => ReceiveOutcome.Pause;
            (TestProtocol client, _) = await open.ConnectAsync(server: server);
            ConcurrentBag<BorrowedBuffer> lent = [];
            int abortAt = random.Next(1, 12);
            Connection aborting = round % 2 == 0 ? client.Connection : server.Connection;

            for (int i = 0; i < 12; i++)
            {
                var buffer = new BorrowedBuffer(64 * 1024);
                if (client.TryLend(buffer.Bytes, BorrowedBuffer.Release, buffer))
                {
                    lent.Add(buffer);
                }

                client.Connection.Flush();
                if (i == abortAt)
                {
                    aborting.Abort(CloseReason.Stopping);
                }
            }

            await client.ClosedAsync();
            Assert.NotEmpty(lent);
            Assert.All(lent, static buffer => Assert.Equal(1, buffer.Releases));

            // One that has paused need not have noticed.
            server.Connection.Abort(CloseReason.Stopping);
            await server.ClosedAsync();
        }
    }

    [Theory, EveryLink]
    public async Task What_has_no_room_stays_the_callers(string link)
    {
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 100_000 });
        (TestProtocol client, _) = await open.ConnectAsync();
        var tooLarge = new BorrowedBuffer(100_001);
        var fits = new BorrowedBuffer(100_000);

        Assert.False(client.TryLend(tooLarge.Bytes, BorrowedBuffer.Release, tooLarge));
        Assert.True(client.TryLend(fits.Bytes, BorrowedBuffer.Release, fits));
        Assert.False(client.TryLend(new byte[1], BorrowedBuffer.Release, tooLarge));
        Assert.Equal(100_000, client.Connection.PendingBytes);
        client.Connection.Close(CloseReason.LocalClosed);

        await client.ClosedAsync();
        Assert.Equal((1, 0), (fits.Releases, tooLarge.Releases));
    }

    [Theory, EveryLink]
    public async Task A_release_that_throws_is_logged_and_the_connection_goes_on(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();

        Assert.True(client.TryLend(new byte[20_000], static _ => throw new InvalidOperationException("A defect in a callback."), null));
        client.Connection.Flush();
        Assert.True(await client.SendAsync(new byte[10]));

        await server.ReceivedAsync(20_010);
        await Patience.UntilAsync(() => open.Log.WithId(1006).Count == 1, "the exception was logged");
        Assert.False(client.Connection.IsClosing);
    }

    private static Task AllReleasedAsync(IReadOnlyCollection<BorrowedBuffer> lent) =>
        Patience.UntilAsync(() => lent.All(static buffer => buffer.Releases == 1), "all was released once");
}
