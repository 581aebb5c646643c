using FastPort.Core.Tests.Routing;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Memory;

/// <summary>What a message costs once everything is warm, measured in a process that does nothing else.</summary>
public sealed class AllocationTests(ITestOutputHelper output)
{
    private const ushort RawInline = 0x1000;
    private const ushort RawQueued = 0x1001;
    private const ushort TypedCopied = 0x1002;
    private const ushort Echo = 0x0100;
    private const int Messages = 200_000;

    // One by one they take long.
    private const int SingleMessages = 75_000;

    // The least of several rounds counts: an array that the pool lacks for a thread that is new to it is rented once, what a message costs
    // is paid in every round.
    private const int Rounds = 5;

    [Theory]
    [InlineData(1)]
    [InlineData(64)]
    public async Task A_raw_inline_handler_allocates_nothing(int burst)
    {
        double bytes = await MeasureAsync(RawConnection.Frame(RawInline, new byte[64]), burst);

        Assert.InRange(bytes, 0, 1);
    }

    [Fact]
    public async Task Nor_does_it_where_the_session_has_a_queue_in_which_nothing_waits()
    {
        double bytes = await MeasureAsync(
            RawConnection.Frame(RawInline, new byte[64]), burst: 32, first: RawConnection.Frame(RawQueued, new byte[64]));

        Assert.InRange(bytes, 0, 1);
    }

    [Theory]
    [InlineData(64)]
    [InlineData(1000)]
    public async Task Typed_Echo_allocates_two_messages_a_ByteString_and_what_it_shows_whatever_the_payload(int payload)
    {
        double bytes = await MeasureAsync(EchoFrame(Echo, payload), burst: 32);

        // Half a byte for the noise of the measurement.
        Assert.InRange(bytes, 1, 136.5);
    }

    [Theory]
    [InlineData(64)]
    [InlineData(1000)]
    public async Task A_typed_handler_whose_messages_are_its_own_allocates_two_messages_a_ByteString_and_its_array(int payload)
    {
        double bytes = await MeasureAsync(EchoFrame(TypedCopied, payload), burst: 32);

        // Arrays are rounded up to 8 bytes; half a byte for the noise of the measurement.
        Assert.InRange(bytes, payload, 120.5 + ((payload + 7) & ~7));
    }

    [Fact]
    public async Task A_raw_queued_handler_stays_within_its_budget()
    {
        double bytes = await MeasureAsync(RawConnection.Frame(RawQueued, new byte[64]), burst: 32);

        // Measured: 112 bytes, the request's context and its lock; the body is rented.
        Assert.InRange(bytes, 0, 128);
    }

    [Theory]
    [InlineData("inproc", 64)]
    [InlineData("inproc", 20_000)]
    [InlineData("inproc", 40_000)]
    [InlineData("tcp", 64)]
    [InlineData("tcp", 20_000)]
    [InlineData("unix", 64)]
    [InlineData("unix", 20_000)]
    public async Task Requests_and_one_way_messages_both_ways_allocate_nothing_on_either_side(string scheme, int size)
    {
        string file = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());
        string endpoint = scheme switch
        {
            "unix" => $"unix://{file}",
            "tcp" => "tcp://127.0.0.1:0",
            _ => "inproc://allocations",
        };
        await using TestHostProcess host = TestHostProcess.Link(endpoint, size);

        double bytes = (await host.ReadAsync())["thousandths"] / 1000.0;

        output.WriteLine($"{bytes:0.000} bytes per message");
        Assert.InRange(bytes, 0, 0.5);
    }

    [Theory]
    [InlineData(1, false)]
    [InlineData(64, false)]
    [InlineData(1, true)]
    [InlineData(64, true)]
    public async Task A_relay_and_a_publication_allocate_nothing(int burst, bool publish)
    {
        await using TestHostProcess host = await TestHostProcess.ServeAsync();
        using var sender = new RawConnection(host.Port);
        using var receiver = new RawConnection(host.Port);
        byte[] request = RawConnection.Frame(publish ? (ushort)7 : (ushort)4, RoutingWire.Envelope("receiver", 0x1000, new byte[64]));
        foreach ((RawConnection connection, string routingId) in new[] { (sender, "sender"), (receiver, "receiver") })
        {
            connection.Ask(RawConnection.Frame(1, Wire.Text(1, routingId)));
        }

        // Two prefixes that match: the one copy is found among both.
        receiver.Ask(RawConnection.Frame(5, Wire.Text(1, "receiver")));
        receiver.Ask(RawConnection.Frame(5, Wire.Text(1, "rec")));
        int received = RoutingWire.Envelope("receiver", 0x1000, new byte[64], "sender").Length + FrameHeader.Size;
        int reply = FrameHeader.Size + (publish ? 2 : 0);

        double bytes = await MeasureAsync(host, burst, count =>
        {
            byte[] requests = [.. Enumerable.Repeat(request, burst).SelectMany(static r => r)];
            for (int done = 0; done < count; done += burst)
            {
                sender.Send(requests);
                sender.Drop(reply * burst);
                receiver.Drop(received * burst);
            }
        });

        Assert.InRange(bytes, 0, 1);
    }

    private static byte[] EchoFrame(ushort type, int payload)
    {
        // The field's tag and length varint before the payload.
        byte[] length = payload < 128 ? [(byte)payload] : [(byte)(payload | 0x80), (byte)(payload >> 7)];
        return RawConnection.Frame(type, [0x0A, .. length, .. new byte[payload]]);
    }

    private async Task<double> MeasureAsync(byte[] request, int burst, byte[]? first = null)
    {
        await using TestHostProcess host = await TestHostProcess.ServeAsync();
        using var connection = new RawConnection(host.Port);
        connection.Exchange(first ?? request, 1, 1);
        return await MeasureAsync(host, burst, count => connection.Exchange(request, count, burst));
    }

    private async Task<double> MeasureAsync(TestHostProcess host, int burst, Action<int> exchange)
    {
        int messages = (burst == 1 ? SingleMessages : Messages) / Rounds;
        exchange(10_000);
        long measuring = await MeasuringCostsAsync(host);
        long before = (await host.MeasureAsync())["allocated"];
        double least = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            exchange(messages);
            long after = (await host.MeasureAsync())["allocated"];
            least = Math.Min(least, Math.Max(0, after - before - measuring) / (double)messages);
            before = after;
        }

        output.WriteLine($"{least:0.000} bytes per message");
        return least;
    }

    private static async Task<long> MeasuringCostsAsync(TestHostProcess host)
    {
        long costs = 0;
        for (int i = 0; i < 3; i++)
        {
            long before = (await host.MeasureAsync())["allocated"];
            costs = (await host.MeasureAsync())["allocated"] - before;
        }

        return costs;
    }
}
