using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>Bytes leave in the order in which the writes ended, whichever threads wrote.</summary>
public sealed class WriteOrderTests
{
    private const int Loop = 1;
    private const int Ticks = 2;
    private const int Thread = 3;
    private const int Rounds = 400;

    [Theory, EveryLink]
    public Task Chunks_numbered_at_the_end_of_their_write_arrive_in_order(string link) => RunAsync(link, stampsLast: true);

    [Theory, EveryLink]
    public Task Chunks_written_under_a_lock_of_the_protocols_own_arrive_in_order(string link) => RunAsync(link, stampsLast: false);

    [Theory, EveryLink]
    public async Task Small_writes_of_the_loop_and_a_thread_in_turns_take_no_ring_each_while_the_peer_does_not_read(string link)
    {
        const int Turns = 2_000;
        const int Size = 12;
        var client = new TestProtocol { OnBytes = static _ => ReceiveOutcome.Pause };
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 16 * 1024 * 1024 });
        (_, TestProtocol server) = await open.ConnectAsync(client);
        int filled = 0;
        await Task.Run(async () =>
        {
            while (!server.Connection.IsSendBlocked || server.Connection.PendingBytes < 1024)
            {
                // The thread that sends, and encrypts, may be slower than this one.
                if (server.Connection.PendingBytes < 1024 * 1024)
                {
                    Assert.True(server.TryWrite(new byte[64 * 1024]));
                    filled += 64 * 1024;
                }

                server.Connection.Flush();
                await Task.Yield();
            }
        }).InTimeAsync();
        int before = open.Pool.Outstanding;

        byte[] piece = new byte[Size];
        for (int turn = 0; turn < Turns; turn++)
        {
            var written = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
            server.Connection.Post(
                _ =>
                {
                    piece.AsSpan().Fill((byte)(2 * turn));
                    written.SetResult(server.TryWrite(piece));
                    server.Connection.Flush();
                },
                null);
            Assert.True(await written.Task.InTimeAsync());
            Assert.True(await Task.Run(() =>
            {
                piece.AsSpan().Fill((byte)((2 * turn) + 1));
                return server.TryWrite(piece);
            }));
        }

        Assert.InRange(open.Pool.Outstanding - before, 0, 40);

        client.OnBytes = client.Collect;
        client.Connection.ResumeReading();
        server.Connection.Flush();
        await client.ReceivedAsync(filled + (2 * Turns * Size));
        byte[] received = client.Received[filled..];
        Assert.All(Enumerable.Range(0, received.Length), at => Assert.Equal((byte)(at / Size), received[at]));
    }

    // The loop, the clock's ticks and three threads write at once, copied, lent and in batches, more than the send ring holds.
    private static async Task RunAsync(string link, bool stampsLast)
    {
        bool done = false;
        int fromLoop = 0;
        int fromTicks = 0;
        NumberedChunks chunks = null!;
        var time = new FakeTimeProvider();
        TestProtocol server = null!;
        server = new TestProtocol
        {
            NextTick = ConnectionClock.NextTick,
            Ticked = () =>
            {
                fromTicks += chunks.TryWrite(Ticks, fromTicks, 40 + (fromTicks % 100)) ? 1 : 0;
                server.Connection.Flush();
            },
            OnBytes = input =>
            {
                input.Consume(input.Length);
                for (int i = 0; i < 3 && !Volatile.Read(ref done); i++)
                {
                    fromLoop += WriteOne(chunks, Loop, fromLoop);
                }

                return ReceiveOutcome.Continue;
            },
        };
        chunks = new NumberedChunks(server, stampsLast);

        // Each burst of chunks makes the loop write again.
        var client = new TestProtocol();
        client.OnBytes = input =>
        {
            ReceiveOutcome outcome = chunks.Check(input);
            client.TryWrite([1]);
            return outcome;
        };
        await using TestLink open = TestLink.Open(
            link, static s => s with { MaxSendBytes = 256 * 1024, WriteTimeout = TimeSpan.Zero }, time);
        await open.ConnectAsync(client, server);
        Assert.True(client.TryWrite([1]));
        client.Connection.Flush();

        Task ticking = Task.Run(async () =>
        {
            while (!Volatile.Read(ref done))
            {
                time.Advance(TimeSpan.FromMilliseconds(100));
                await Task.Delay(1);
            }
        });
        Task[] writing = [.. Enumerable.Range(Thread, 3).Select(thread => Task.Run(async () =>
        {
            for (int index = 0; index < Rounds && chunks.Fault is null;)
            {
                int written = WriteOne(chunks, thread, index);
                index += written;
                server.Connection.Flush();
                if (written == 0)
                {
                    await Task.Yield();
                }
            }
        }))];
        await Task.WhenAll(writing).InTimeAsync();
        await Patience.UntilAsync(
            () => chunks.Fault is not null
                || (Volatile.Read(ref fromLoop) > 50 && Volatile.Read(ref fromTicks) > 5), "all kinds of writers wrote");
        Volatile.Write(ref done, true);
        await ticking.InTimeAsync();

        await Patience.UntilAsync(() => chunks.Fault is not null || chunks.Arrived == chunks.Sent, "all has arrived");
        Assert.Null(chunks.Fault);
        Assert.False(server.Connection.IsClosing);
    }

    // Returns how many chunks were written. Their sizes end somewhere: the loop writes as long as it takes the others.
    private static int WriteOne(NumberedChunks chunks, int writer, int index) => (index % 7) switch
    {
        3 => chunks.TryLend(writer, index, 1_000 + (index % 2000 * 40)) ? 1 : 0,
        5 => chunks.TryAppend(writer, index, 4, 100 + index) ? 4 : 0,
        _ => chunks.TryWrite(writer, index, 20 + (index % 300)) ? 1 : 0,
    };
}
