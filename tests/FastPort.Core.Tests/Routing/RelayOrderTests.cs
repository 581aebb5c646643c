using System.Collections.Concurrent;
using FastPort.Core.Tests.Support;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Routing;

/// <summary>Relays among the queued requests of the same session: all start in the order they came.</summary>
public sealed class RelayOrderTests
{
    private const ushort Held = 0x1001;
    private const ushort Forward = 0x1002;

    [Theory]
    [InlineData(Relay)]
    [InlineData(Publish)]
    public async Task A_message_waits_until_the_requests_before_it_have_started(ushort type)
    {
        var gate = new SemaphoreSlim(0);
        var started = new ConcurrentQueue<byte>();
        await using TestServer server = await TestServer.StartAsync(
            handlers => handlers.MapQueued(Held, async context =>
            {
                started.Enqueue(context.Body.Span[0]);
                await gate.WaitAsync(context.Aborted);
            }),
            static o => o.Routing.Relay = o.Routing.Topics = true);
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b");
        await b.SubscribeAsync("b");

        await a.SendAsync(
            Wire.Request(Held, 1, [1]), Wire.Request(Held, 2, [2]), Wire.Request(type, 3, Envelope("b", 1, [3])),
            Wire.Request(Held, 4, [4]));
        await Patience.UntilAsync(() => started.Count == 1, "the first request started");

        // The second waits for the first; so does what came behind it.
        server.Opened[0].Connection.ResumeReading();
        await b.PingAsync();
        Assert.Equal("1", string.Join(" ", started));
        gate.Release();

        Assert.Equal([3], Decode(await b.ReadFrameAsync()).Body);
        Assert.Equal("1 2", string.Join(" ", started));
        gate.Release(2);
        uint[] answered = [
            (await a.ReadFrameAsync()).Correlation, (await a.ReadFrameAsync()).Correlation, (await a.ReadFrameAsync()).Correlation,
            (await a.ReadFrameAsync()).Correlation];
        Assert.Equal("1 2 3 4", string.Join(" ", answered.Order()));
        Assert.Equal("1 2 4", string.Join(" ", started));
    }

    [Theory]
    [InlineData(TransportKind.Sockets, 1)]
    [InlineData(TransportKind.Sockets, 4)]
    [InlineData(TransportKind.Auto, 1)]
    [InlineData(TransportKind.Auto, 4)]
    public async Task Relays_mixed_with_queued_requests_keep_their_order_and_none_is_stuck(TransportKind transport, int concurrency)
    {
        const int Messages = 5000;
        TestServer server = null!;
        server = await TestServer.StartAsync(
            handlers => handlers.MapQueued(Forward, async context =>
            {
                server.Server.Routing.TrySendTo("b", Forward, context.Body.Span);
                if (context.Body.Span[0] % 3 == 0)
                {
                    await Task.Yield();
                }
            }),
            o =>
            {
                o.Routing.Relay = true;
                o.Transport = transport;

                // Sender and target on one loop, which writes to its own connections in another way than other threads do.
                o.Loops = 1;
                o.Session.MaxConcurrency = concurrency;
                o.Session.MaxInFlightRequests = 8;
            });
        await using TestServer _ = server;
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b");
        var random = new Random(concurrency);
        byte[][] requests = [.. Enumerable.Range(0, Messages).Select(i => random.Next(3) == 0
            ? Wire.Post(Forward, BitConverter.GetBytes(i))
            : RelayPost("b", BitConverter.GetBytes(i)))];

        Task sending = a.SendAsync(requests);
        List<int> relayed = [], all = [];
        for (int i = 0; i < Messages; i++)
        {
            WireFrame frame = await b.ReadFrameAsync();
            int number = BitConverter.ToInt32(frame.Type == Relay ? frame.BytesAt(3) : frame.Body);
            all.Add(number);
            if (frame.Type == Relay)
            {
                relayed.Add(number);
            }
        }

        await sending.InTimeAsync();
        Assert.Equal(relayed.Order(), relayed);
        Assert.Equal(Enumerable.Range(0, Messages), transport == TransportKind.Sockets ? all : all.Order());
    }
}
