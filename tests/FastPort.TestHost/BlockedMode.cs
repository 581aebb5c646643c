using FastPort.Framing;

namespace FastPort.TestHost;

/// <summary>
/// A server in a process with few threads in its pool. For a line on standard input it prints its figures when queued handlers block all of
/// them; they block until the input ends.
/// </summary>
internal static class BlockedMode
{
    private const ushort Echo = 0x1000;
    private const ushort Block = 0x1001;
    private const int Threads = 4;

    /// <param name="transport">The server's transport.</param>
    /// <param name="way">How its clients come: <c>tcp</c>, <c>tls</c>, or <c>proxy</c>, with a PROXY header.</param>
    /// <param name="certificate">The file with the server's certificate and key; empty but for <c>tls</c>.</param>
    public static void Run(TransportKind transport, string way, string certificate)
    {
        ThreadPool.SetMinThreads(Threads, 1);
        ThreadPool.SetMaxThreads(Threads, 1);
        var options = new FastPortServerOptions
        {
            Transport = transport,
            Endpoints = { way == "tls" ? "tls://127.0.0.1:0" : "tcp://127.0.0.1:0" },
            Tls = { CertificateFile = certificate },
        };
        if (way == "proxy")
        {
            options.TrustedProxies.Add("127.0.0.1");
        }

        using var release = new ManualResetEventSlim();
        using var blocked = new CountdownEvent(Threads);
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(Echo, static (ref InlineRequest request) => request.Reply(new SequenceBody(request.Body)))
            .MapQueued(Block, _ =>
            {
                blocked.Signal();
                release.Wait();
                return default;
            });
        var server = new FastPortServer(options, handlers);

        // This thread waits itself: the pool has none for what follows an await.
        server.StartAsync().GetAwaiter().GetResult();
        Console.WriteLine($"port={server.Endpoints[0].Port} threads={Threads}");
        while (Console.ReadLine() is not null)
        {
            blocked.Wait();
            Console.WriteLine($"connections={server.ConnectionCount}");
        }

        release.Set();
        server.StopAsync().GetAwaiter().GetResult();
    }
}
