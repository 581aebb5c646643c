using System.Buffers.Binary;
using System.Collections.Concurrent;

namespace FastPort.Core.Tests.Clients;

/// <summary>What was run, by the number in the first 8 bytes of each body; shared by the servers of one test.</summary>
internal sealed class ExecutionLog
{
    private readonly ConcurrentDictionary<long, int> _runs = new();

    public ICollection<long> Ids => _runs.Keys;

    public int Count(long id) => _runs.GetValueOrDefault(id);

    public void Add(long id) => _runs.AddOrUpdate(id, 1, static (_, n) => n + 1);
}

/// <summary>A real server that counts what it runs and can be told to hold requests.</summary>
internal sealed class CountingServer : IAsyncDisposable
{
    public const ushort InlineEcho = 0x1000;
    public const ushort QueuedEcho = 0x1001;
    public const ushort Hold = 0x1002;
    public const ushort OneWay = 0x1003;

    private readonly TaskCompletionSource _release = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _held;
    private int _cancelled;

    private CountingServer(FastPortServer server, ExecutionLog log)
    {
        Server = server;
        Log = log;
    }

    public FastPortServer Server { get; private set; }

    public ExecutionLog Log { get; }

    /// <summary>Hold requests that have begun.</summary>
    public int Held => Volatile.Read(ref _held);

    /// <summary>Hold requests whose token was cancelled.</summary>
    public int Cancelled => Volatile.Read(ref _cancelled);

    public int Port => Server.Endpoints[0].Port;

    public string Endpoint => Server.Endpoints[0].ToString();

    public static async Task<CountingServer> StartAsync(
        int port = 0, ExecutionLog? log = null, Action<FastPortServerOptions>? configure = null,
        FastPortServerComponents? components = null)
    {
        var options = new FastPortServerOptions();
        options.Endpoints.Add($"tcp://127.0.0.1:{port}");
        configure?.Invoke(options);
        CountingServer? self = null;
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(InlineEcho, (ref InlineRequest request) =>
            {
                byte[] body = System.Buffers.BuffersExtensions.ToArray(request.Body);
                self!.Count(body);
                request.Reply(body);
            })
            .MapQueued(QueuedEcho, async context =>
            {
                self!.Count(context.Body.Span);
                await Task.Yield();
                context.Reply(context.Body.Span);
            })
            .MapQueued(Hold, async context =>
            {
                self!.Count(context.Body.Span);
                Interlocked.Increment(ref self._held);
                try
                {
                    await self._release.Task.WaitAsync(context.Aborted);
                }
                catch (OperationCanceledException)
                {
                    Interlocked.Increment(ref self._cancelled);
                    throw;
                }

                context.Reply(context.Body.Span);
            })
            .MapInline(OneWay, (ref InlineRequest request) => self!.Count(System.Buffers.BuffersExtensions.ToArray(request.Body)));
        self = new CountingServer(new FastPortServer(options, handlers, components), log ?? new ExecutionLog());
        await self.Server.StartAsync();
        return self;
    }

    /// <summary>Lets the held requests go on.</summary>
    public void Release() => _release.TrySetResult();

    public async ValueTask DisposeAsync()
    {
        Release();
        await Server.DisposeAsync().InTimeAsync();
    }

    public static byte[] Body(long id, int size = 8)
    {
        byte[] body = new byte[Math.Max(size, 8)];
        BinaryPrimitives.WriteInt64LittleEndian(body, id);
        return body;
    }

    private void Count(ReadOnlySpan<byte> body)
    {
        if (body.Length >= 8)
        {
            Log.Add(BinaryPrimitives.ReadInt64LittleEndian(body));
        }
    }
}
