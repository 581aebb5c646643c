using System.Buffers;
using System.Runtime.InteropServices;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using FastPort.Transports.InProcess;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>What only links within the process promise.</summary>
public sealed class InProcessTests
{
    private const string Link = "in process";

    [ThreadStatic]
    private static bool _sending;

    [Fact]
    public async Task The_receiver_reads_the_very_array_that_was_written_to()
    {
        var read = new TaskCompletionSource<byte[]>();
        var server = new TestProtocol { OnBytes = input => Take(input, read) };
        await using TestLink open = TestLink.Open(Link);
        (TestProtocol client, _) = await open.ConnectAsync(server: server);

        ArrayPoolCircularBuffer ring = client.Connection.BeginWrite()!;
        Memory<byte> memory = ring.GetMemory(100);
        ring.Advance(100);
        client.Connection.EndWrite();
        client.Connection.Flush();

        Assert.Same(ArrayOf(memory), await read.Task.InTimeAsync());
    }

    [Fact]
    public async Task The_receiver_reads_the_very_memory_that_was_lent()
    {
        var read = new TaskCompletionSource<byte[]>();
        var server = new TestProtocol
        {
            OnBytes = input =>
            {
                // Behind a head of 3 copied bytes.
                input.Consume(3);
                return Take(input, read);
            },
        };
        await using TestLink open = TestLink.Open(Link);
        (TestProtocol client, _) = await open.ConnectAsync(server: server);
        var lent = new BorrowedBuffer(50_000);

        Assert.True(client.TryWrite([1, 2, 3]));
        Assert.True(client.TryLend(lent.Bytes, BorrowedBuffer.Release, lent));
        client.Connection.Flush();

        Assert.Same(lent.Bytes, await read.Task.InTimeAsync());
        await Patience.UntilAsync(() => lent.Releases == 1, "the memory came back");
    }

    [Fact]
    public async Task A_session_hands_a_lent_body_to_the_handler_as_it_is()
    {
        var read = new TaskCompletionSource<byte[]>();
        string uri = $"inproc://{Guid.NewGuid():n}";
        await using TestServer server = await StartAsync(
            uri, h => h.MapInline(0x1001, (ref InlineRequest r) => read.SetResult(ArrayOf(r.Body.First))));
        await using var client = new FastPort.FastPortClient(new FastPort.FastPortClientOptions { Endpoint = uri });
        await client.ConnectAsync(Patience.Token);
        byte[] body = new byte[64 * 1024];

        Assert.Equal(FastPort.SendStatus.Queued, client.Session!.TrySendBorrowed(0x1001, body));

        Assert.Same(body, await read.Task.InTimeAsync());
        Assert.Equal(uri, server.Opened[0].RemoteEndPoint!.ToString());
        Assert.Equal(uri, server.Endpoint.ToString());
    }

    [Fact]
    public async Task Memory_that_is_no_array_is_copied_and_released()
    {
        await using TestLink open = TestLink.Open(Link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();
        using var native = new NativeBytes(70_000);
        int releases = 0;

        Assert.True(client.TryWrite([1, 2, 3]));
        Assert.True(client.TryLend(native.Memory, _ => Interlocked.Increment(ref releases), null));
        Assert.True(client.TryWrite([4]));
        client.Connection.Flush();

        await server.ReceivedAsync(70_004);
        byte[] expected = [1, 2, 3, .. native.Memory.ToArray(), 4];
        Assert.Equal(expected, server.Received);
        await Patience.UntilAsync(() => Volatile.Read(ref releases) == 1, "the memory came back");
    }

    [Fact]
    public async Task Lent_memory_that_a_paused_reader_has_comes_back_when_the_sender_ends()
    {
        var server = new TestProtocol { OnBytes = static _ => ReceiveOutcome.Pause };
        await using TestLink open = TestLink.Open(Link);
        (TestProtocol client, _) = await open.ConnectAsync(server: server);
        var lent = new BorrowedBuffer(50_000);
        Assert.True(client.TryLend(lent.Bytes, BorrowedBuffer.Release, lent));
        client.Connection.Flush();
        await Patience.UntilAsync(() => server.Bursts == 1, "the bytes were offered");
        Assert.Equal((0, 50_000), (lent.Releases, client.Connection.PendingBytes));

        client.Connection.Abort(CloseReason.LocalClosed);

        await client.ClosedAsync();
        Assert.Equal((1, 0), (lent.Releases, client.Connection.PendingBytes));
        Assert.Equal(CloseKind.ConnectionLost, (await server.ClosedAsync()).Kind);
    }

    [Fact]
    public async Task An_end_is_not_told_before_all_is_given_back_when_the_peer_ends_at_the_same_time()
    {
        using var offered = new ManualResetEventSlim();
        using var mayEnd = new ManualResetEventSlim();
        using var givesBack = new ManualResetEventSlim();
        using var mayFinish = new ManualResetEventSlim();
        var ending = new TestProtocol
        {
            OnBytes = _ =>
            {
                offered.Set();
                Assert.True(mayEnd.Wait(Patience.Limit));
                return ReceiveOutcome.Pause;
            },
        };
        await using TestLink open = TestLink.Open(Link);
        open.Serve = () => ending;

        // Never started, so that its abort is its end, on the stack of whoever aborts.
        Connection peer = await open.Transport.CreateConnector(open.Endpoint, open.Settings).ConnectAsync(Patience.Token);
        await open.AcceptedAsync();
        Lend(peer, () =>
        {
            givesBack.Set();
            Assert.True(mayFinish.Wait(Patience.Limit));
        });
        peer.Flush();
        await Task.Factory.StartNew(() => Assert.True(offered.Wait(Patience.Limit)), TaskCreationOptions.LongRunning).InTimeAsync();

        // The peer's end lets the other's begin and goes on when that one is in the middle of giving back.
        Lend(ending.Connection, () =>
        {
            mayEnd.Set();
            Assert.True(givesBack.Wait(Patience.Limit));
        });
        await Task.Factory.StartNew(() => peer.Abort(CloseReason.LocalClosed), TaskCreationOptions.LongRunning).InTimeAsync();

        bool toldEarly = ending.Closed.IsCompleted || peer.Closed.IsCompleted;
        mayFinish.Set();
        await ending.ClosedAsync();
        await peer.Closed.InTimeAsync();
        Assert.False(toldEarly);

        static void Lend(Connection connection, Action release)
        {
            Assert.NotNull(connection.BeginWrite());
            Assert.True(connection.TryWriteBorrowed(new byte[40_000], static state => ((Action)state!)(), release));
            connection.EndWrite();
        }
    }

    [Fact]
    public async Task Nothing_of_the_peers_runs_on_the_senders_stack()
    {
        int onStack = 0;
        var server = new TestProtocol();
        server.OnBytes = input =>
        {
            onStack += _sending ? 1 : 0;
            return server.Collect(input);
        };
        await using TestLink open = TestLink.Open(Link);
        (TestProtocol client, _) = await open.ConnectAsync(server: server);

        await Task.Run(async () =>
        {
            for (int i = 1; i <= 200; i++)
            {
                _sending = true;
                Assert.True(client.TryWrite(new byte[100]));
                client.Connection.Flush();
                _sending = false;
                await server.ReceivedAsync(100 * i);
            }
        });

        Assert.Equal(0, onStack);
    }

    [Fact]
    public async Task Accepting_does_not_run_on_the_connecting_thread()
    {
        await using TestLink open = TestLink.Open(Link);
        int thread = 0;
        open.Serve = () =>
        {
            thread = _sending ? -1 : 1;
            return new TestProtocol();
        };

        _sending = true;
        Task<Connection> connecting = open.Transport.CreateConnector(open.Endpoint, open.Settings).ConnectAsync(Patience.Token).AsTask();
        Assert.True(connecting.IsCompletedSuccessfully);
        _sending = false;

        TestProtocol server = await open.AcceptedAsync();
        Assert.Equal(1, thread);
        (await connecting).Abort(CloseReason.LocalClosed);
        await server.ClosedAsync();
    }

    [Fact]
    public async Task A_peer_that_is_gone_is_noticed_by_the_next_write()
    {
        var time = new FakeTimeProvider();
        await using TestLink open = TestLink.Open(Link, time: time);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync(server: new TestProtocol { StaysOpen = true });
        client.Connection.Close(CloseReason.LocalClosed);
        await Patience.UntilAsync(() => server.Ends.Count == 1, "the end was told");
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromMilliseconds(100));
                return client.Closed.IsCompleted;
            },
            "the next write found out");

        await client.ClosedAsync();
        Assert.False(server.Connection.IsClosing);
        Assert.False(server.TryWrite([1]));

        Assert.Equal(CloseKind.ConnectionLost, (await server.ClosedAsync()).Kind);
    }

    [Fact]
    public async Task A_defect_in_the_senders_notice_does_not_reach_the_peers_pump()
    {
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(Link);
        (TestProtocol client, _) = await open.ConnectAsync(
            new TestProtocol { Drained = static () => throw new InvalidOperationException("A defect.") }, server);

        client.Connection.NotifyWhenDrained(0);

        Assert.Equal(CloseKind.Internal, (await client.ClosedAsync()).Kind);
        Assert.Equal(CloseKind.ConnectionLost, (await server.ClosedAsync()).Kind);
    }

    [Fact]
    public async Task A_server_can_have_the_same_name_in_no_other_listener_of_the_process_whoever_made_the_transport()
    {
        string uri = $"inproc://{Guid.NewGuid():n}";
        await using TestServer first = await StartAsync(uri);
        var options = new FastPortServerOptions();
        options.Endpoints.Add(uri);
        var components = new FastPortServerComponents();
        components.Transports.Add(new InProcessTransport());
        await using var second = new FastPortServer(options, new MessageHandlers(), components);

        var e = await Assert.ThrowsAsync<EndpointException>(() => second.StartAsync());

        Assert.StartsWith($"Cannot listen on {uri}: the name is in use in this process.", e.Message, StringComparison.Ordinal);
    }

    private static Task<TestServer> StartAsync(string uri, Action<MessageHandlers>? handlers = null) => TestServer.StartAsync(
        handlers,
        options =>
        {
            options.Endpoints.Clear();
            options.Endpoints.Add(uri);
        });

    private static byte[] ArrayOf(ReadOnlyMemory<byte> memory) =>
        MemoryMarshal.TryGetArray(memory, out ArraySegment<byte> segment) ? segment.Array! : [];

    private static ReceiveOutcome Take(ArrayPoolCircularBuffer input, TaskCompletionSource<byte[]> read)
    {
        read.TrySetResult(ArrayOf(input.FirstReadableMemory));
        input.Consume(input.Length);
        return ReceiveOutcome.Continue;
    }

    // Memory outside the managed heap.
    private sealed unsafe class NativeBytes : MemoryManager<byte>
    {
        private readonly byte* _bytes;
        private readonly int _length;

        public NativeBytes(int length)
        {
            _length = length;
            _bytes = (byte*)NativeMemory.Alloc((nuint)length);
            for (int i = 0; i < length; i++)
            {
                _bytes[i] = (byte)(i * 7);
            }
        }

        public override Span<byte> GetSpan() => new(_bytes, _length);

        public override MemoryHandle Pin(int elementIndex = 0) => new(_bytes + elementIndex);

        public override void Unpin()
        {
        }

        protected override void Dispose(bool disposing) => NativeMemory.Free(_bytes);
    }
}
