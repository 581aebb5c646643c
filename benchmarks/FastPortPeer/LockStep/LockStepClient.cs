using FastPort;
using System.Diagnostics;
using System.Text.Json;
using FastPort.Telemetry;

namespace FastPortPeer.LockStep;

/// <summary>What to ask and whom.</summary>
internal sealed record LockStepSettings
{
    public required string Endpoint { get; init; }

    public required int Size { get; init; }

    /// <summary>Requests in flight, each in lock-step with its reply.</summary>
    public required int InFlight { get; init; }

    public required TimeSpan Duration { get; init; }

    public required TimeSpan WarmUp { get; init; }

    /// <summary>How long the loop looks for work before it sleeps; null for the engine's own choice.</summary>
    public required int? SpinMicroseconds { get; init; }

    /// <summary>The process whose CPU time and memory are reported as the server's.</summary>
    public required int ServerId { get; init; }
}

/// <summary>Echo in lock-step with FastPort's engine as the client; reports as benchmarks/Native/lock_step.c does.</summary>
internal static class LockStepClient
{
    private static readonly JsonSerializerOptions Format = new() { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };

    public static async Task RunAsync(LockStepSettings settings)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = settings.Endpoint,
            Loops = 1,
            SpinMicroseconds = settings.SpinMicroseconds,
            Reconnect = false,
        };
        await using var client = new FastPortClient(options);
        await client.ConnectAsync();
        Session session = client.Session ?? throw new PeerException("The connection has ended.");
        await TripsAsync(session, settings, settings.WarmUp);

        TimeSpan serverCpu = ProcessFigures.Cpu(settings.ServerId);
        TimeSpan ownCpu = ProcessFigures.OwnCpu;
        long begun = Stopwatch.GetTimestamp();
        LatencyHistogram trips = await TripsAsync(session, settings, settings.Duration);

        double seconds = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        ownCpu = ProcessFigures.OwnCpu - ownCpu;
        serverCpu = ProcessFigures.Cpu(settings.ServerId) - serverCpu;
        LatencySnapshot roundTrips = trips.Snapshot();
        Console.WriteLine(JsonSerializer.Serialize(
            new
            {
                Messages = roundTrips.Count,
                Seconds = seconds,
                MessagesPerS = roundTrips.Count / seconds,
                Errors = 0,
                P50Us = roundTrips.P50 / 1e3,
                P95Us = roundTrips.P95 / 1e3,
                P99Us = roundTrips.P99 / 1e3,
                MaxUs = roundTrips.Max / 1e3,
                ClientCpuS = ownCpu.TotalSeconds,
                ClientPeakRssKb = ProcessFigures.PeakKilobytes(Environment.ProcessId),
                ServerCpuS = serverCpu.TotalSeconds,
                ServerCpuUsPerMessage = serverCpu.TotalMicroseconds / roundTrips.Count,
                ServerPeakRssKb = ProcessFigures.PeakKilobytes(settings.ServerId),
            },
            Format));
    }

    private static async Task<LatencyHistogram> TripsAsync(Session session, LockStepSettings settings, TimeSpan duration)
    {
        EchoTrip[] trips = [.. Enumerable.Range(0, settings.InFlight).Select(_ => new EchoTrip(session, settings.Size, duration))];
        Array.ForEach(trips, static trip => trip.Start());
        var all = new LatencyHistogram();
        foreach (EchoTrip trip in trips)
        {
            await trip.Done;
            all.Merge(trip.RoundTrips);
        }

        return all;
    }
}
