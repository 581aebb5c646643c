using Xunit;

namespace FastPort.Core.Tests.Memory;

/// <summary>What connections cost, and that nothing stays behind, measured in a process that does nothing else.</summary>
public sealed class ProcessMemoryTests(ITestOutputHelper output)
{
    private static readonly byte[] Request = RawConnection.Frame(0x1000, new byte[100]);

    [Theory]
    [InlineData("serve", 4096)]
    [InlineData("serve-ws", 4864)]
    public async Task Idle_connections_cost_few_KB_of_heap_each(string mode, int most)
    {
        // One descriptor each in this process and in the child, with room for the test run itself.
        int count = DescriptorLimit() > 12_000 ? 10_000 : 700;
        await using TestHostProcess host = await TestHostProcess.ServeAsync(mode);
        List<RawConnection> connections = [];
        try
        {
            Open(200);
            await host.MeasureAsync();
            Dictionary<string, long> before = await host.MeasureAsync();

            Open(count);

            Dictionary<string, long> after = await host.MeasureAsync();
            Assert.Equal(count + 200, after["connections"]);
            double each = (after["heap"] - before["heap"]) / (double)count;
            output.WriteLine($"{each:0} bytes of heap per idle connection");
            Assert.InRange(each, 1, most - 1);
        }
        finally
        {
            connections.ForEach(static c => c.Dispose());
        }

        void Open(int more)
        {
            for (int i = 0; i < more; i++)
            {
                var connection = new RawConnection(host.Port);
                connections.Add(connection);
                if (mode == "serve-ws")
                {
                    connection.Upgrade();
                    connection.ExchangeMessage(Request);
                }
                else
                {
                    connection.Exchange(Request, 1, 1);
                }
            }
        }
    }

    [Fact]
    public async Task Ten_thousand_connections_later_heap_and_rented_arrays_are_where_they_began()
    {
        // The pools may keep another array or two; 64 bytes per connection kept for good would be 640 KB.
        const int Rounds = 3;
        const long Most = 600 * 1024;
        await using TestHostProcess host = await TestHostProcess.ServeAsync();
        await host.CountRentsAsync();

        // What the pools keep for the next connection is there after the first ten thousand, too.
        Cycle(host.Port, 10_000);
        Dictionary<string, long> before = await QuietAsync(host);
        long grown = long.MaxValue;

        // What is kept for each connection is there in every round; what the pools keep for a thread that has started meanwhile is not.
        for (int round = 0; round < Rounds && grown > Most; round++)
        {
            Cycle(host.Port, 10_000);

            Dictionary<string, long> after = await QuietAsync(host);
            output.WriteLine($"heap {before["heap"]} -> {after["heap"]}, rented {before["rented"]} -> {after["rented"]}");
            Assert.Equal(before["rented"], after["rented"]);
            Assert.InRange(after["descriptors"], 0, before["descriptors"]);
            grown = after["heap"] - before["heap"];
            before = after;
        }

        Assert.InRange(grown, long.MinValue, Most);
    }

    [Fact]
    public async Task Starting_and_stopping_200_times_leaves_nothing_behind()
    {
        await using TestHostProcess host = TestHostProcess.StartStop(200);
        Dictionary<string, long> before = await host.ReadAsync();
        Dictionary<string, long> after = await host.ReadAsync();
        output.WriteLine(string.Join(", ", after.Select(pair => $"{pair.Key} {before[pair.Key]} -> {pair.Value}")));

        // A few that belong to the runtime (its pipes, a library loaded late); a socket left behind each time would be 200.
        Assert.InRange(after["descriptors"], 0, before["descriptors"] + 20);
        Assert.InRange(after["timers"], 0, before["timers"] + 2);
        Assert.InRange(after["rented"], 0, before["rented"]);

        // The pool's own threads come and go; a thread left behind each time would be 200.
        Assert.InRange(after["threads"], 0, before["threads"] + 10);
        // The pools keep arrays for their threads, up to half a megabyte however many rounds, and a quarter of one for each thread that the
        // system's pool has started meanwhile; 4 KB left behind each time would be more, or 14 KB where there are ten such threads.
        long newThreads = Math.Max(0, after["threads"] - before["threads"]);
        Assert.InRange(after["heap"] - before["heap"], long.MinValue, (800 + (newThreads * 256)) * 1024);
    }

    private static void Cycle(int port, int count)
    {
        for (int i = 0; i < count; i++)
        {
            using var connection = new RawConnection(port);
            connection.Exchange(Request, 1, 1);
            if (i % 4 == 1)
            {
                connection.Send(Request[..50]);
            }

            if (i % 2 == 1)
            {
                connection.Reset();
            }
        }
    }

    private static async Task<Dictionary<string, long>> QuietAsync(TestHostProcess host)
    {
        Assert.Equal(0, (await host.MeasureEmptyAsync())["connections"]);
        return await host.MeasureAsync();
    }

    private static long DescriptorLimit() => FastPort.Hosting.DescriptorLimit.Read() ?? long.MaxValue;
}
