using FastPort;
using FastPort.Protocol;
using FastPort.Telemetry;

namespace FastPortPeer.Soak;

/// <summary>
/// The server of the soak: diagnostics, and relays by routing id. Prints its memory at intervals and, when its input ends, its counters.
/// </summary>
internal static class SoakServer
{
    public static async Task RunAsync(string endpoint, string webSocket, TimeSpan sampleInterval)
    {
        var options = new FastPortServerOptions();
        options.Endpoints.Add(endpoint);
        options.Endpoints.Add(webSocket);
        options.Session.HeartbeatInterval = TimeSpan.FromSeconds(5);
        options.Routing.Relay = true;
        await using var server = new FastPortServer(options, new MessageHandlers().MapDiagnostics());
        await server.StartAsync();
        foreach (Endpoint bound in server.Endpoints)
        {
            Console.WriteLine($"listening on {bound}");
        }

        using var stop = new CancellationTokenSource();
        Task sampling = SoakLine.PrintMemoryAsync(sampleInterval, stop.Token);
        await InputLines.Start().Completion;
        await stop.CancelAsync();
        await sampling;
        PrintCounters(server.Counters.Snapshot());
    }

    private static void PrintCounters(SessionCountersSnapshot counters) => SoakLine.Print(new
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
