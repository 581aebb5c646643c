using System.Buffers;
using System.Collections.Concurrent;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

/// <summary>Large one-way messages within the process: each is written into an array of its own and handed over as it lies.</summary>
public sealed class InLineSendTests
{
    private const ushort Push = 0x1001;
    private const int Large = 40_000;

    private readonly ConcurrentQueue<byte[]> _got = new();
    private readonly ManualResetEventSlim _mayGo = new(initialState: true);

    [Fact]
    public async Task While_a_large_body_is_written_others_send_and_the_peer_receives()
    {
        await using TestServer server = await StartAsync();
        await using FastPortClient client = await ConnectAsync(server);
        Session session = client.Session!;
        using var writing = new ManualResetEventSlim();
        using var goOn = new ManualResetEventSlim();
        Task<SendStatus> slow = Task.Run(() => session.TrySend(Push, new SlowBody(writing, goOn)));
        Assert.True(writing.Wait(Patience.Limit));

        SendStatus other = await Task.Run(() => session.TrySend(Push, [7])).InTimeAsync();
        await Patience.UntilAsync(() => !_got.IsEmpty, "the other's message arrived");
        goOn.Set();

        Assert.Equal((SendStatus.Queued, SendStatus.Queued), (other, await slow.InTimeAsync()));
        await Patience.UntilAsync(() => _got.Count == 2, "both arrived");
        Assert.Equal([1, Large], _got.Select(static body => body.Length));
    }

    [Fact]
    public async Task Small_and_large_ones_keep_their_order_and_count()
    {
        await using TestServer server = await StartAsync();
        await using FastPortClient client = await ConnectAsync(server);
        byte[][] bodies = [
            .. Enumerable.Range(0, 100).Select(
                static i => Wire.Bytes((i % 5) switch { 0 => 3, 1 => Large, 2 => 32 * 1024, 3 => (32 * 1024) - 1, _ => 100_000 }, i))];
        long before = client.Session!.MessagesSent;

        foreach (byte[] body in bodies)
        {
            Assert.Equal(SendStatus.Queued, await client.TrySendAsync(Push, body).InTimeAsync());
        }

        await Patience.UntilAsync(() => _got.Count == bodies.Length, "all arrived");
        Assert.All(bodies.Zip(_got), static pair => Assert.True(pair.First.AsSpan().SequenceEqual(pair.Second)));
        Assert.Equal(bodies.Length, client.Session!.MessagesSent - before);
    }

    [Fact]
    public async Task A_full_queue_is_told_and_what_was_taken_arrives()
    {
        await using TestServer server = await StartAsync();
        await using FastPortClient client = await ConnectAsync(server);
        _mayGo.Reset();
        int queued = 0;
        SendStatus status;
        while ((status = client.Session!.TrySend(Push, new byte[Large])) == SendStatus.Queued)
        {
            queued++;
            Assert.InRange(queued, 0, 100);
        }

        Assert.Equal(SendStatus.Full, status);
        _mayGo.Set();

        await Patience.UntilAsync(() => _got.Count == queued, "all that were queued arrived");
        await client.Session!.WhenWritableAsync(Patience.Token);
        Assert.Equal(SendStatus.Queued, client.Session!.TrySend(Push, [1]));
        await Patience.UntilAsync(() => _got.Count == queued + 1, "one more arrived");
        Assert.Equal(0, client.Session!.MessagesDropped);
    }

    [Fact]
    public async Task A_body_that_throws_leaves_nothing_behind()
    {
        await using TestServer server = await StartAsync();
        await using FastPortClient client = await ConnectAsync(server);
        Session session = client.Session!;
        long before = session.MessagesSent;

        Assert.Throws<InvalidTimeZoneException>(() => session.TrySend(Push, default(ThrowingBody)));
        Assert.Equal(SendStatus.Queued, session.TrySend(Push, Wire.Bytes(Large)));

        await Patience.UntilAsync(() => !_got.IsEmpty, "the next one arrived");
        Assert.Equal(Wire.Bytes(Large), Assert.Single(_got));
        Assert.Equal(1, session.MessagesSent - before);
    }

    [Fact]
    public async Task One_beyond_the_frame_limit_and_one_after_the_end_are_refused()
    {
        await using TestServer server = await StartAsync();
        await using FastPortClient client = await ConnectAsync(server);
        Session session = client.Session!;

        Assert.Equal(SendStatus.TooLarge, session.TrySend(Push, new byte[2_000_000]));
        _ = session.CloseAsync();
        Assert.Equal(SendStatus.Closed, session.TrySend(Push, new byte[Large]));

        await session.Closed.InTimeAsync();
        Assert.Equal(SendStatus.Closed, session.TrySend(Push, new byte[Large]));
        Assert.Empty(_got);
    }

    private Task<TestServer> StartAsync() => TestServer.StartAsync(
        handlers => handlers.MapInline(Push, (ref InlineRequest request) =>
        {
            _mayGo.Wait(Patience.Limit);
            _got.Enqueue(request.Body.ToArray());
        }),
        static options =>
        {
            options.Endpoints.Clear();
            options.Endpoints.Add($"inproc://{Guid.NewGuid():N}");
            options.Session.HeartbeatInterval = TimeSpan.Zero;
        });

    private static async Task<FastPortClient> ConnectAsync(TestServer server)
    {
        var options = new FastPortClientOptions { Endpoint = server.Endpoint.ToString() };
        options.Session.SendQueueBytes = 256 * 1024;

        // Heartbeats are messages sent, too.
        options.Session.HeartbeatInterval = TimeSpan.Zero;
        var client = new FastPortClient(options);
        await client.ConnectAsync();
        return client;
    }

    private readonly struct SlowBody(ManualResetEventSlim writing, ManualResetEventSlim goOn) : IFrameBody
    {
        public int Size => Large;

        public void Write(Span<byte> destination)
        {
            destination.Clear();
            writing.Set();
            Assert.True(goOn.Wait(Patience.Limit));
        }
    }

    private readonly struct ThrowingBody : IFrameBody
    {
        public int Size => Large;

        public void Write(Span<byte> destination)
        {
            destination.Fill(9);
            throw new InvalidTimeZoneException();
        }
    }
}
