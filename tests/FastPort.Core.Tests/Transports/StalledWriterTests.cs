using System.Buffers;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>A thread that stops in the middle of encoding a body, as one does that the system takes the core away from.</summary>
public sealed class StalledWriterTests : IDisposable
{
    private const ushort Push = 0x1001;
    private const ushort Stalled = 0x1002;

    private readonly TemporaryDirectory _directory = new();
    private readonly TaskCompletionSource _begin = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ManualResetEventSlim _entered = new();
    private readonly ManualResetEventSlim _released = new();

    public void Dispose()
    {
        _directory.Dispose();
        _entered.Dispose();
        _released.Dispose();
    }

    [Theory, EveryLink]
    public Task A_thread_stopped_in_a_message_does_not_hold_the_loop_up(string link) => RunAsync(link, async (server, client) =>
    {
        Session session = await server.SessionAsync();
        Task<SendStatus> sending = Task.Factory.StartNew(
            () => session.TrySend(Push, new StalledBody(this)), TaskCreationOptions.LongRunning);
        await LoopAnswersAsync(client);
        _released.Set();

        Assert.Equal(SendStatus.Queued, await sending.InTimeAsync());
    });

    [Theory, EveryLink]
    public Task A_thread_stopped_in_a_reply_does_not_hold_the_loop_up(string link) => RunAsync(link, async (_, client) =>
    {
        Task<byte[]> request = client.RequestAsync(Stalled, Array.Empty<byte>());
        await client.RequestAsync(TestServer.Echo, Array.Empty<byte>()).InTimeAsync();
        _begin.SetResult();
        await LoopAnswersAsync(client);
        _released.Set();

        Assert.Equal(StalledBody.Bytes, await request.InTimeAsync());
    });

    private async Task LoopAnswersAsync(FastPortClient client)
    {
        Assert.True(await Task.Run(() => _entered.Wait(Patience.Limit)));
        for (byte i = 0; i < 5; i++)
        {
            Assert.Equal([i], await client.RequestAsync(TestServer.Echo, new[] { i }).InTimeAsync());
        }
    }

    private async Task RunAsync(string link, Func<TestServer, FastPortClient, Task> test)
    {
        var pushed = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        MessageHandlers pushes = new MessageHandlers()
            .MapInline(Push, (ref InlineRequest request) => pushed.TrySetResult(request.Body.ToArray()));
        await using TestServer server = await TestServer.StartAsync(
            handlers => handlers.MapQueued(Stalled, async context =>
            {
                // The requests that follow start when this one has returned or awaits, on a thread that must not wait for the writer.
                await _begin.Task;
                context.Reply(new StalledBody(this));
            }),
            options =>
            {
                options.Endpoints.Clear();
                options.Endpoints.Add(Links.Get(link).Uri(_directory));
            },
            components => components.Transports.Add(Links.Get(link).CreateTransport()));
        var options = new FastPortClientOptions { Endpoint = server.Endpoint.ToString() };
        await using var client = new FastPortClient(options, pushes, transport: Links.Get(link).CreateTransport());
        await client.ConnectAsync(Patience.Token);
        try
        {
            await test(server, client);
        }
        finally
        {
            _released.Set();
        }
    }

    private readonly struct StalledBody(StalledWriterTests test) : IFrameBody
    {
        public static readonly byte[] Bytes = Wire.Bytes(100);

        public int Size => Bytes.Length;

        public void Write(Span<byte> destination)
        {
            Bytes.CopyTo(destination);
            test._entered.Set();
            test._released.Wait();
        }
    }
}
