using Xunit;
using static FastPort.Core.Tests.Streams.RawStreams;

namespace FastPort.Core.Tests.Streams;

/// <summary>A reader's speed is its sender's: what is under way or waits stays within the window, however much there is.</summary>
[Collection(Alone)]
[CollectionDefinition(Alone, DisableParallelization = true)]
public sealed class StreamWindowTests
{
    // Other tests would allocate meanwhile.
    private const string Alone = "Memory of streams";
    private const int Million = 1_000_000;
    private const int Window = 256;

    [Fact]
    public async Task A_million_items_to_a_reader_that_takes_them_when_told_stay_within_the_window()
    {
        int produced = 0;
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, h => h.MapReplies((_, _, _) => Produce()).MapExchange(Echo));
        await using IAsyncEnumerator<byte[]> items = Stream(pair.Client).GetAsyncEnumerator();
        int taken = 0;
        await TakeAsync(1_000);
        long before = GC.GetTotalMemory(forceFullCollection: true);

        for (int i = 0; i < 20; i++)
        {
            await TakeAsync(500);
            await Patience.UntilSteadyAsync(() => Volatile.Read(ref produced), "the producer waits");

            // What the producer yields next was made already.
            Assert.InRange(Volatile.Read(ref produced) - taken, Window / 2, Window + 1);
        }

        Assert.InRange(GC.GetTotalMemory(forceFullCollection: true) - before, long.MinValue, 512 * 1024);
        int echoed = 0;
        await foreach (byte[] _ in ExchangeAsync(pair.Client, Numbers(5_000)))
        {
            echoed++;
        }

        Assert.Equal(5_000, echoed);
        Assert.Equal([7], await pair.Client.RequestAsync(Support.TestServer.Echo, new byte[] { 7 }).InTimeAsync());
        await TakeAsync(Million - taken);
        Assert.False(await items.MoveNextAsync());
        Assert.True(pair.Server.Counts.StreamStalls > 10);
        await Patience.UntilAsync(() => pair.Server.Counts.StreamItemsOut == Million + 5_000, "all items are counted");
        await Patience.UntilAsync(
            () => pair.Client.Counters.Snapshot().StreamItemsIn == Million + 5_000, "all items are counted by the client");

        async Task TakeAsync(int count)
        {
            for (int i = 0; i < count; i++)
            {
                Assert.True(await items.MoveNextAsync());
                if (Number(items.Current) != taken++)
                {
                    Assert.Fail($"Item {taken} has number {Number(items.Current)}.");
                }
            }
        }

        async IAsyncEnumerable<byte[]> Produce()
        {
            for (int i = 0; i < Million; i++)
            {
                Interlocked.Increment(ref produced);
                yield return BitConverter.GetBytes(i);
            }

            await Task.CompletedTask;
        }
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(2, 100)]
    [InlineData(1_000, 7)]
    public async Task Any_window_lets_all_items_pass_in_both_directions(int messages, int bytes)
    {
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: true,
            static h => h.MapExchange(Echo),
            options => (options.Session.StreamWindowMessages, options.Session.StreamWindowBytes) = (messages, bytes),
            options => (options.Session.StreamWindowMessages, options.Session.StreamWindowBytes) = (messages, bytes));

        int count = 0;
        await foreach (byte[] item in ExchangeAsync(pair.Client, Sizes()))
        {
            Assert.Equal(count++ % 50, item.Length);
        }

        Assert.Equal(1_000, count);

        static async IAsyncEnumerable<byte[]> Sizes()
        {
            for (int i = 0; i < 1_000; i++)
            {
                yield return new byte[i % 50];
            }

            await Task.CompletedTask;
        }
    }

    [Fact]
    public async Task An_item_allocates_nothing_but_the_message()
    {
        byte[] item = [1, 2, 3, 4];
        await using StreamPair pair = await StreamPair.StartAsync(inProcess: false, h => h.MapReplies((_, _, _) => Same()));
        await ReadAsync();
        long before = GC.GetTotalAllocatedBytes(precise: true);

        await ReadAsync();

        // The reader's copy has 32 bytes; the rest is for waits, buffers and the runtime.
        Assert.InRange((GC.GetTotalAllocatedBytes(precise: true) - before) / 200_000.0, 32, 36);

        async Task ReadAsync()
        {
            await foreach (byte[] _ in Stream(pair.Client))
            {
            }
        }

        async IAsyncEnumerable<byte[]> Same()
        {
            for (int i = 0; i < 200_000; i++)
            {
                yield return item;
            }

            await Task.CompletedTask;
        }
    }

    [Fact]
    public async Task A_hundred_thousand_streams_leave_nothing()
    {
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, static h => h.MapReplies(static (_, _, _) => Numbers(3)).MapExchange(Echo));
        await RunAsync(2_000);
        long before = GC.GetTotalMemory(forceFullCollection: true);

        await RunAsync(98_000);

        await pair.ExpectNothingLeftAsync(streams: 100_000);
        Assert.InRange(GC.GetTotalMemory(forceFullCollection: true) - before, long.MinValue, 2 * 1024 * 1024);
        await pair.Client.CloseAsync();
        await Patience.UntilAsync(() => pair.Server.Closed.Count == 1, "no work keeps the session");

        // Ended by themselves, by the consumer, and with a stream of requests.
        async Task RunAsync(int streams)
        {
            int left = streams;
            await Task.WhenAll(Enumerable.Range(0, 16).Select(async caller =>
            {
                int number;
                while ((number = Interlocked.Decrement(ref left)) >= 0)
                {
                    int expected = number % 4 == 1 ? 1 : 3;
                    int read = 0;
                    await foreach (byte[] _ in number % 4 == 3 ? ExchangeAsync(pair.Client, Numbers(3)) : Stream(pair.Client))
                    {
                        if (++read == 1 && number % 4 == 1)
                        {
                            break;
                        }
                    }

                    Assert.Equal(expected, read);
                }
            }));
        }
    }
}
