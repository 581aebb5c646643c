using FastPort.Framing;
using FastPort.Protocol;

namespace FastPort.TestHost;

/// <summary>
/// A server that prints its figures for every line "measure" on standard input, for "measure-empty" when it has no connection any more.
/// From "count-rents" on rents are counted.
/// </summary>
internal static class ServeMode
{
    private const ushort RawInline = 0x1000;
    private const ushort RawQueued = 0x1001;
    private const ushort TypedCopied = 0x1002;

    /// <param name="transport">The transport. Defaults to the one under test.</param>
    /// <param name="heartbeat">The interval of heartbeats. Defaults to none.</param>
    /// <param name="scheme">The endpoint's scheme. Defaults to TCP.</param>
    public static async Task RunAsync(TransportKind? transport = null, TimeSpan heartbeat = default, string scheme = "tcp")
    {
        RentedArrays? rented = null;
        var options = new FastPortServerOptions { Transport = transport ?? TransportUnderTest.Kind };
        options.Endpoints.Add($"{scheme}://127.0.0.1:0");

        // Its peers answer no Ping unless asked to, and one that only receives is silent for as long as the measuring takes.
        (options.Session.HeartbeatInterval, options.Session.IdleTimeout) = (heartbeat, TimeSpan.Zero);
        options.Routing.Relay = options.Routing.Topics = true;
        MessageHandlers handlers = new MessageHandlers()
            .MapDiagnostics()
            .MapInline(RawInline, static (ref InlineRequest request) => request.Reply(new SequenceBody(request.Body)))
            .MapQueued(RawQueued, static context =>
            {
                context.Reply(context.Body.Span);
                return ValueTask.CompletedTask;
            })
            .MapInline(TypedCopied, Echo.Parser, static (echo, _) => new Echo { Payload = echo.Payload });
        await using var server = new FastPortServer(options, handlers);
        using var closed = new SemaphoreSlim(0);
        server.SessionClosed += (_, _) => closed.Release();
        await server.StartAsync();
        Console.WriteLine($"port={server.Endpoints[0].Port}");
        while (Console.ReadLine() is { } line)
        {
            switch (line)
            {
                case "measure-empty":
                    while (server.ConnectionCount != 0)
                    {
                        await closed.WaitAsync();
                    }

                    goto case "measure";
                case "measure":
                    Console.WriteLine($"{ProcessFigures.Read(rented)} connections={server.ConnectionCount}");
                    break;
                case "count-rents":
                    rented ??= new RentedArrays();
                    Console.WriteLine("counting=1");
                    break;
            }
        }

        rented?.Dispose();
    }
}
