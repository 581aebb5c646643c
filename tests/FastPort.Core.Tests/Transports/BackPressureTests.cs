using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>A side that does not read, and how the other side learns of it.</summary>
public sealed class BackPressureTests
{
    private const int Bound = 200_000;
    private static readonly byte[] Piece = Wire.Bytes(10_000);

    [Theory, EveryLink]
    public async Task A_peer_that_never_reads_blocks_the_sender_at_its_bound_until_it_reads(string link)
    {
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = Bound });
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync(takesLittle: true);

        int sent = await FillAsync(server);

        Connection connection = server.Connection;
        Assert.True(connection.IsSendBlocked);
        Assert.InRange(connection.PendingBytes, Bound - Piece.Length, 2 * Bound);
        Assert.Equal(sent, connection.BytesSent + connection.PendingBytes);
        Task drained = server.DrainedAsync(1_000);
        await Task.Delay(20);
        Assert.False(drained.IsCompleted);
        Assert.Equal(0, server.Drains);

        byte[] received = await raw.ReadAsync(sent);
        await drained.InTimeAsync();
        Assert.Equal(1, server.Drains);
        for (int at = 0; at < sent; at += Piece.Length)
        {
            Assert.True(received.AsSpan(at, Piece.Length).SequenceEqual(Piece));
        }

        await Patience.UntilAsync(() => connection.PendingBytes == 0 && !connection.IsSendBlocked, "nothing waits any more");
        Assert.True(await server.SendAsync(Piece));
        await raw.ReadAsync(Piece.Length);
    }

    [Theory, EveryLink]
    public async Task A_notice_for_what_is_true_already_comes_at_once(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (_, TestProtocol server) = await open.ConnectAsync();

        await server.DrainedAsync(0).InTimeAsync();

        Assert.Equal(1, server.Drains);
    }

    [Theory, EveryLink]
    public async Task A_peer_that_takes_nothing_for_the_write_timeout_is_cut_off(string link)
    {
        var time = new FakeTimeProvider();
        await using TestLink open = TestLink.Open(
            link, static s => s with { MaxSendBytes = Bound, WriteTimeout = TimeSpan.FromSeconds(10) }, time);
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync(takesLittle: true);
        time.Advance(TimeSpan.FromMinutes(1));
        await FillAsync(server);

        time.Advance(TimeSpan.FromSeconds(9.9));
        Assert.False(server.Connection.IsClosing);

        // In steps: the system may have taken some more meanwhile, and the time counts from there.
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromMilliseconds(100));
                return server.Connection.IsClosing;
            },
            "the write timeout had passed");

        // Its protocol's last words get the drain time and no more.
        Assert.True(server.Connection.IsClosing);
        Assert.False(server.Connection.Closed.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(1.1));
        CloseReason reason = await server.ClosedAsync();
        Assert.Equal(CloseKind.WriteTimeout, reason.Kind);
        Assert.Contains("pending bytes in 10 s.", reason.Message, StringComparison.Ordinal);
        Assert.Equal(1, server.WriteTimeouts);
    }

    [Theory, EveryLink]
    public async Task A_protocol_that_pauses_is_offered_nothing_until_it_resumes(string link)
    {
        var server = new TestProtocol { OnBytes = static _ => ReceiveOutcome.Pause };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        await raw.SendAsync([1, 2, 3]);
        await Patience.UntilAsync(() => server.Bursts == 1, "the bytes were offered");
        await raw.SendAsync([4, 5]);
        await Task.Delay(20);
        Assert.Equal(1, server.Bursts);
        server.OnBytes = server.Collect;
        server.Connection.ResumeReading();

        await server.ReceivedAsync(5);
        Assert.Equal([1, 2, 3, 4, 5], server.Received);
    }

    [Theory, EveryLink]
    public async Task A_protocol_that_pauses_with_nothing_unread_is_told_when_it_is_read_for_again(string link)
    {
        var server = new TestProtocol();
        server.OnBytes = input =>
        {
            server.Collect(input);
            return ReceiveOutcome.Pause;
        };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        for (int i = 1; i <= 5; i++)
        {
            if (i == 1)
            {
                await raw.SendAsync([1]);
            }

            await Patience.UntilAsync(() => server.Bursts == i, $"burst {i} was offered");
            server.Connection.ResumeReading();
        }
    }

    [Theory, EveryLink]
    public async Task Pausing_and_resuming_at_any_moment_loses_nothing(string link)
    {
        const int Length = 3_000_000;
        byte[] bytes = new byte[Length];
        new Random(8).NextBytes(bytes);
        var random = new Random(9);
        var server = new TestProtocol();
        server.OnBytes = input =>
        {
            // Takes some, leaves some, pauses or not; a resume may come from another thread before this returns.
            byte[] some = new byte[random.Next(input.Length + 1)];
            input.CopyTo(0, some);
            server.Collect(Take(input, some.Length));
            if (input.IsEmpty && random.Next(2) == 0)
            {
                return ReceiveOutcome.Continue;
            }

            ThreadPool.UnsafeQueueUserWorkItem(
                static connection => connection.ResumeReading(), server.Connection, preferLocal: random.Next(2) == 0);
            return ReceiveOutcome.Pause;
        };
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 100_000, MaxReceiveBytes = 70_000 });
        (TestProtocol client, _) = await open.ConnectAsync(server: server);

        Assert.True(await client.SendAsync(bytes, 7_777));

        await server.ReceivedAsync(Length);
        Assert.True(bytes.AsSpan().SequenceEqual(server.Received));
    }

    [Theory, EveryLink]
    public async Task Resuming_needlessly_does_no_harm(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();
        using var done = new CancellationTokenSource();
        Task resuming = Task.Run(() =>
        {
            while (!done.IsCancellationRequested)
            {
                server.Connection.ResumeReading();
            }
        });

        byte[] bytes = new byte[2_000_000];
        new Random(10).NextBytes(bytes);
        Assert.True(await client.SendAsync(bytes, 1_234));
        await server.ReceivedAsync(bytes.Length);
        await done.CancelAsync();
        await resuming;

        Assert.True(bytes.AsSpan().SequenceEqual(server.Received));
    }

    [Theory, EveryLink]
    public async Task Resuming_again_before_the_loop_has_resumed_queues_nothing(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (_, TestProtocol server) = await open.ConnectAsync();
        var allocated = new TaskCompletionSource<long>(TaskCreationOptions.RunContinuationsAsynchronously);

        server.Connection.Post(
            _ =>
            {
                server.Connection.ResumeReading();
                allocated.SetResult(Allocations.LeastOf(() =>
                {
                    for (int i = 0; i < 100_000; i++)
                    {
                        server.Connection.ResumeReading();
                    }
                }));
            },
            null);

        Assert.InRange(await allocated.Task.InTimeAsync(), 0, 1024);
    }

    [Theory, EveryLink]
    public async Task Two_sides_that_read_only_when_they_have_sent_go_on(string link)
    {
        // Each pauses while it has more to send than fits: the other's reading is what lets it go on.
        const int Length = 2_000_000;
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 64 * 1024 });
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();
        byte[] bytes = new byte[Length];
        new Random(12).NextBytes(bytes);

        Task<bool> sending = Task.Run(() => client.SendAsync(bytes));
        long echoed = 0;
        while (echoed < Length)
        {
            await server.ReceivedAsync(echoed + 1);
            byte[] received = server.Received;
            Assert.True(await server.SendAsync(received.AsMemory((int)echoed)));
            echoed = received.Length;
        }

        Assert.True(await sending.InTimeAsync());
        await client.ReceivedAsync(Length);
        Assert.True(bytes.AsSpan().SequenceEqual(client.Received));
    }

    // A ring of the first bytes alone.
    private static ArrayPoolCircularBuffer Take(ArrayPoolCircularBuffer input, int count)
    {
        var taken = new ArrayPoolCircularBuffer(1024, 1 << 20);
        byte[] bytes = new byte[count];
        input.CopyTo(0, bytes);
        input.Consume(count);
        taken.Write(bytes);
        return taken;
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
