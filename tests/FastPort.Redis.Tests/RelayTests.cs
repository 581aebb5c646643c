using System.Buffers;
using System.Threading.Channels;
using FastPort.Framing;
using FastPort.Redis.Relaying;
using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests;

public sealed class RelayTests
{
    private const ushort Type = 0x1234;

    [RedisFact]
    public async Task A_relay_reaches_a_session_of_another_node_with_the_senders_id()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        var received = new Inbox();
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient target = await b.ConnectAsync("machine-7", received.Attach);

        await sender.RelayAsync("machine-7", Type, new byte[] { 1, 2, 3 });
        await sender.RelayAsync("machine-7", Type, new byte[] { 4 });

        Assert.Equal([("sender", "010203"), ("sender", "04")], [await received.NextAsync(), await received.NextAsync()]);
    }

    [RedisFact]
    public async Task A_relay_to_nobody_is_NotFound()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient sender = await a.ConnectAsync("sender");

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => sender.RelayAsync("nobody", Type, new byte[] { 1 }));

        Assert.Equal(ErrorCode.NotFound, failure.Code);
    }

    [RedisFact]
    public async Task One_way_relays_to_nobody_share_a_line_of_the_log_that_the_peer_cannot_break()
    {
        const int Count = 500;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using FastPortClient sender = await a.ConnectAsync("sender");
        for (int i = 0; i < Count; i++)
        {
            await sender.RelayOneWayAsync("no\nbody\u202E", Type, new Bytes([1]));
        }

        await Patience.UntilAsync(() => a.Backplane.Running!.Transport.Counters.LostOneWays == Count, "all are counted");
        await Patience.UntilAsync(() => a.Log.WithId(6006).Count != 0, "the log names the target");

        Assert.All(a.Log.WithId(6006), static line => Assert.Contains(@"to 'no\u000Abody\u202E'", line.Text, StringComparison.Ordinal));
        Assert.True(a.Log.WithId(6006).Count < 10, $"{a.Log.WithId(6006).Count} lines");
    }

    [RedisFact]
    public async Task Many_relays_arrive_in_order_and_once_each()
    {
        const int Count = 5000;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        var received = new Inbox();
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient target = await b.ConnectAsync("target", received.Attach);

        Task[] relays = [.. Enumerable.Range(0, Count).Select(i => sender.RelayAsync("target", Type, BitConverter.GetBytes(i)))];
        await Task.WhenAll(relays).InTimeAsync();

        for (int i = 0; i < Count; i++)
        {
            Assert.Equal(Convert.ToHexString(BitConverter.GetBytes(i)), (await received.NextAsync()).Body);
        }
    }

    [RedisFact]
    public async Task A_relay_finds_its_target_after_it_has_moved()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using Node c = await Node.StartAsync(redis, "c");
        await using FastPortClient sender = await a.ConnectAsync("sender");
        var atB = new Inbox();
        FastPortClient first = await b.ConnectAsync("target", atB.Attach);
        await sender.RelayAsync("target", Type, new byte[] { 1 });
        await first.CloseAsync();
        await Patience.UntilAsync(() => b.Server.ConnectionCount == 0, "the session has ended");
        var atC = new Inbox();
        await using FastPortClient second = await c.ConnectAsync("target", atC.Attach);

        // Node a still looks for it at b, which passes it on.
        await sender.RelayAsync("target", Type, new byte[] { 2 });
        await sender.RelayAsync("target", Type, new byte[] { 3 });

        Assert.Equal(("01", "02", "03"), ((await atB.NextAsync()).Body, (await atC.NextAsync()).Body, (await atC.NextAsync()).Body));
    }

    [RedisFact]
    public async Task A_large_relay_and_a_one_way_relay_arrive()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        var received = new Inbox();
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient target = await b.ConnectAsync("target", received.Attach);
        byte[] large = new byte[900_000];
        Random.Shared.NextBytes(large);

        await sender.RelayOneWayAsync("target", Type, new Bytes(large));
        for (int i = 0; i < 4; i++)
        {
            await sender.RelayAsync("target", Type, large);
        }

        for (int i = 0; i < 5; i++)
        {
            Assert.Equal(Convert.ToHexString(large), (await received.NextAsync()).Body);
        }
    }

    /// <summary>Redis would close the connection of the target's node, which has its lease and its lookups too.</summary>
    [RedisFact]
    public async Task A_message_that_is_too_large_for_Redis_goes_to_no_other_node()
    {
        (string, string) frames = ("FastPort:Session:MaxFrameBytes", "67108864");
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", frames);
        await using Node b = await Node.StartAsync(redis, "b", frames);
        var received = new Inbox();
        await using FastPortClient sender = await a.ConnectAsync("sender", maxFrameBytes: 64 * 1024 * 1024);
        await using FastPortClient target = await b.ConnectAsync("target", received.Attach);
        await Subscription.MakeAsync(target, "x");
        await a.KnowsInterestsAsync(1);
        byte[] large = new byte[NodeLink.MaxBodyBytes];

        RequestFailedException whereUnknown = await Assert.ThrowsAsync<RequestFailedException>(
            () => sender.RelayAsync("target", Type, large));
        await sender.RelayAsync("target", Type, new byte[] { 1 });
        RequestFailedException whereKnown = await Assert.ThrowsAsync<RequestFailedException>(
            () => sender.RelayAsync("target", Type, large));
        a.Server.Routing.Publish("x", Type, large);
        await sender.RelayAsync("target", Type, new byte[] { 2 });

        Assert.Equal((ErrorCode.MalformedBody, ErrorCode.MalformedBody), (whereUnknown.Code, whereKnown.Code));
        Assert.Contains("what servers forward", whereKnown.Message, StringComparison.Ordinal);
        Assert.Equal(1, a.Backplane.Running!.Transport.Counters.LostPublications);
        Assert.Equal(["01", "02"], [(await received.NextAsync()).Body, (await received.NextAsync()).Body]);
    }

    [RedisFact]
    public async Task The_servers_program_sends_to_a_session_of_another_node()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient target = await b.ConnectAsync("target");

        Assert.Equal(SendStatus.Queued, await a.Server.Routing.TrySendToAsync("target", 0x1002, new Bytes([1, 2])));
        Assert.Equal(SendStatus.NotFound, await a.Server.Routing.TrySendToAsync("nobody", 0x1002, new Bytes([1, 2])));
        await Patience.UntilAsync(() => target.Counters.Snapshot().MessagesIn > 1, "the message arrives");
    }

    private readonly struct Bytes(byte[] bytes) : IFrameBody
    {
        public int Size => bytes.Length;

        public void Write(Span<byte> destination) => bytes.CopyTo(destination);
    }

    private sealed class Inbox
    {
        private readonly Channel<(string From, string Body)> _messages = Channel.CreateUnbounded<(string, string)>();

        public void Attach(FastPortClient client) => client.OnRelayed(
            Type,
            (scoped in message) => _messages.Writer.TryWrite((message.From, Convert.ToHexString(message.Body.ToArray()))));

        public Task<(string From, string Body)> NextAsync() => _messages.Reader.ReadAsync(Patience.Token).InTimeAsync();
    }
}
