using System.Text;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Hosting;
using FastPort.Protocol.Diagnostics;
using FastPort.Sessions;
using FastPort.Telemetry;
using FastPort.Transports;

namespace FastPortPeer.Soak;

/// <summary>The server of the soak: diagnostics and a relay by routing id. Prints its memory at intervals and, when its input ends, its counters.</summary>
internal static class SoakServer
{
    public static async Task RunAsync(string endpoint, TransportKind transport, TimeSpan sampleInterval)
    {
        var options = new FastPortServerOptions { Transport = transport };
        options.Endpoints.Add(endpoint);
        options.Session.HeartbeatInterval = TimeSpan.FromSeconds(5);
        FastPortServer? server = null;
        MessageHandlers handlers = new MessageHandlers().MapDiagnostics().MapQueued(SoakTypes.Relay, context => RelayAsync(server!, context), "relay");
        await using (server = new FastPortServer(options, handlers))
        {
            await server.StartAsync();
            Console.WriteLine($"listening on {server.Endpoints[0]}");
            using var stop = new CancellationTokenSource();
            Task sampling = SoakLine.PrintMemoryAsync(sampleInterval, stop.Token);
            await InputLines.Start().Completion;
            await stop.CancelAsync();
            await sampling;
            PrintCounters(server.Counters.Snapshot());
        }
    }

    // What Relay (0x0004) does, by the public interface: waits for room in the target's queue, so that nothing is dropped.
    private static async ValueTask RelayAsync(FastPortServer server, RequestContext context)
    {
        ReadOnlyMemory<byte> body = context.Body;
        int length = body.Span[0];
        string target = Encoding.UTF8.GetString(body.Span.Slice(1, length));
        SendStatus status = server.FindSession(target) is { } session
            ? await session.SendAsync(SoakTypes.Relayed, new SequenceBody(new(body[(1 + length)..])), context.Aborted)
            : SendStatus.Closed;
        if (status == SendStatus.Queued)
        {
            context.Reply([]);
        }
        else
        {
            context.Fail(ErrorCode.NotFound, $"Nobody takes messages by the routing id '{target}' ({status}).");
        }
    }

    private static void PrintCounters(ServerCountersSnapshot counters) => SoakLine.Print(new
    {
        Kind = "counters",
        counters.ConnectionsAccepted,
        counters.ConnectionsOpen,
        counters.ConnectionsRejected,
        counters.SessionsOpen,
        counters.AcceptErrors,
        counters.MessagesIn,
        counters.MessagesOut,
        counters.ErrorsSent,
        counters.OneWayFailures,
        counters.FramesDropped,
        counters.TimeoutsClosed,
    });
}
