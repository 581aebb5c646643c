using System.Buffers;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>Whole servers and clients over every link.</summary>
public sealed class SessionLinkTests : IDisposable
{
    private const ushort Push = 0x1001;
    private const ushort Slow = 0x1002;

    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Theory, EveryLink]
    public async Task Requests_of_every_size_are_answered(string link)
    {
        await using TestServer server = await StartAsync(link);
        await using FastPortClient client = await ConnectAsync(link, server);

        byte[][] bodies = [.. new[] { 0, 1, 100, 16_000, 16_384, 70_000, 900_000 }.Select(static size => Wire.Bytes(size))];
        byte[][] replies = await Task.WhenAll(bodies.Select(body => client.RequestAsync(TestServer.Echo, body))).InTimeAsync();

        Assert.Equal(bodies, replies);
        Assert.Equal(bodies, await Task.WhenAll(bodies.Select(body => client.RequestAsync(Slow, body))).InTimeAsync());
    }

    [Theory, EveryLink]
    public async Task Many_threads_share_a_session(string link)
    {
        await using TestServer server = await StartAsync(link);
        await using FastPortClient client = await ConnectAsync(link, server);

        await Task.WhenAll(Enumerable.Range(0, 8).Select(thread => Task.Run(async () =>
        {
            for (int i = 0; i < 300; i++)
            {
                byte[] body = Wire.Bytes((i * 37) % 3_000, thread);
                Assert.Equal(body, await client.RequestAsync(i % 10 == 0 ? Slow : TestServer.Echo, body));
            }
        }))).InTimeAsync();
    }

    [Theory, EveryLink]
    public async Task One_way_messages_arrive_in_order_copied_lent_and_in_bursts(string link)
    {
        const int Count = 3_000;
        int next = 0;
        int wrong = 0;
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        MessageHandlers handlers = new MessageHandlers().MapInline(Push, (ref InlineRequest request) =>
        {
            byte[] body = request.Body.ToArray();
            wrong += body.AsSpan().SequenceEqual(Body(next)) ? 0 : 1;
            if (++next == Count)
            {
                all.SetResult();
            }
        });
        await using TestServer server = await StartAsync(link);
        await using FastPortClient client = await ConnectAsync(link, server, handlers);
        Session session = await server.SessionAsync();
        List<BorrowedBuffer> lent = [];

        for (int i = 0; i < Count;)
        {
            int end = Math.Min(Count, i + 1 + (i % 20));
            bool full = false;
            using (session.DeferFlush())
            {
                for (; i < end && !full; i += full ? 0 : 1)
                {
                    if (i % 5 == 0)
                    {
                        var buffer = new BorrowedBuffer(Body(i));
                        full = session.TrySendBorrowed(Push, buffer.Bytes, BorrowedBuffer.Release, buffer) == SendStatus.Full;
                        if (!full)
                        {
                            lent.Add(buffer);
                        }
                    }
                    else
                    {
                        full = session.TrySend(Push, Body(i)) == SendStatus.Full;
                    }
                }
            }

            if (full)
            {
                await session.WhenWritableAsync(Patience.Token);
            }
        }

        await all.Task.InTimeAsync();
        Assert.Equal(0, wrong);
        await Patience.UntilAsync(() => lent.All(static buffer => buffer.Releases == 1), "all was released once");
    }

    [Theory, EveryLink]
    public async Task A_server_that_stops_answers_what_is_in_flight(string link)
    {
        await using TestServer server = await StartAsync(link);
        await using FastPortClient client = await ConnectAsync(link, server);
        Task<byte[]>[] requests = [.. Enumerable.Range(0, 50).Select(i => client.RequestAsync(Slow, Wire.Bytes(i)))];
        await Patience.UntilAsync(() => server.Opened[0].MessagesReceived > 50, "the requests were received");

        await server.Server.StopAsync();

        Assert.All(await Task.WhenAll(requests).InTimeAsync(), static (body, i) => Assert.Equal(Wire.Bytes(i), body));
        Assert.Equal(CloseKind.Stopping, Assert.Single(server.Closed).Reason.Kind);
    }

    [Theory, EveryLink]
    public async Task A_client_comes_back_after_its_session_was_cut_and_after_a_restart(string link)
    {
        TestServer server = await StartAsync(link);
        await using FastPortClient client = await ConnectAsync(link, server);
        string endpoint = server.Endpoint.ToString();
        for (int i = 0; i < 3; i++)
        {
            server.Opened[^1].Abort();
            Assert.Equal([(byte)i], await AgainAsync(client, [(byte)i]));
        }

        await server.DisposeAsync();
        await using TestServer again = await StartAsync(link, endpoint);
        Assert.Equal([9], await AgainAsync(client, [9]));
    }

    private static byte[] Body(int i) => Wire.Bytes(i % 50 == 0 ? 20_000 + i : i % 300, i);

    private static async Task<byte[]> AgainAsync(FastPortClient client, byte[] body)
    {
        while (true)
        {
            try
            {
                return await client.RequestAsync(TestServer.Echo, body);
            }
            catch (RequestFailedException e) when (e.Failure == RequestFailure.ConnectionLost)
            {
                // In flight when the session was cut.
            }
        }
    }

    private static async Task<FastPortClient> ConnectAsync(string link, TestServer server, MessageHandlers? handlers = null)
    {
        var options = new FastPortClientOptions { Endpoint = server.Endpoint.ToString(), ReconnectDelay = TimeSpan.FromMilliseconds(10) };
        var client = new FastPortClient(options, handlers, transport: Links.Get(link).CreateTransport());
        await client.ConnectAsync(Patience.Token);
        return client;
    }

    private Task<TestServer> StartAsync(string link, string? endpoint = null) => TestServer.StartAsync(
        static h => h.MapQueued(Slow, static async context =>
        {
            await Task.Yield();
            context.Reply(context.Body.Span);
        }),
        options =>
        {
            options.Endpoints.Clear();
            options.Endpoints.Add(endpoint ?? Links.Get(link).Uri(_directory));
        },
        components => components.Transports.Add(Links.Get(link).CreateTransport()));
}
