using System.Diagnostics;
using System.Text.Json;
using FastPort.Telemetry;

namespace ServicePeer.Calls;

/// <summary>What callers do.</summary>
internal enum CallMode
{
    /// <summary>Each awaits its reply before it calls again.</summary>
    Unary,

    /// <summary>Each has a stream both ways, whose messages come back.</summary>
    Exchange,

    /// <summary>Each reads a stream.</summary>
    Watch,
}

/// <summary>How much to call.</summary>
internal sealed record CallLoadSettings
{
    public required CallMode Mode { get; init; }

    /// <summary>Creates one connection.</summary>
    public required Func<ICalls> Create { get; init; }

    public required int Connections { get; init; }

    /// <summary>Callers on each connection.</summary>
    public required int Callers { get; init; }

    /// <summary>Bytes of a payload.</summary>
    public required int Size { get; init; }

    public required TimeSpan Duration { get; init; }

    public required TimeSpan WarmUp { get; init; }

    /// <summary>The process whose CPU time and memory are reported as the server's.</summary>
    public required int ServerId { get; init; }
}

/// <summary>Callers that each await their reply; reports as benchmarks/Native/echo_load.c does.</summary>
internal static class CallLoad
{
    private static readonly JsonSerializerOptions Format = new() { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };

    public static async Task RunAsync(CallLoadSettings settings)
    {
        ICalls[] connections = [.. Enumerable.Range(0, settings.Connections).Select(_ => settings.Create())];
        foreach (ICalls connection in connections)
        {
            await connection.ConnectAsync();
        }

        using Process server = Process.GetProcessById(settings.ServerId);
        using var trips = new RoundTrips();
        Task callers = Task.WhenAll(Enumerable.Range(0, settings.Connections * settings.Callers).Select(
            number => Task.Run(() => RunAsync(settings, connections[number % connections.Length], number, trips))));
        await WaitAsync(callers, settings.WarmUp);
        TimeSpan serverCpu = server.TotalProcessorTime;
        TimeSpan ownCpu = Environment.CpuUsage.TotalTime;
        long allocated = GC.GetTotalAllocatedBytes();
        trips.Begin();
        long began = Stopwatch.GetTimestamp();
        var bySecond = new List<double>();
        long second = began;
        for (int end = 1; end <= (int)settings.Duration.TotalSeconds; end++)
        {
            await WaitUntilAsync(TimeSpan.FromSeconds(end));
            long now = Stopwatch.GetTimestamp();
            bySecond.Add(trips.CountNew() / Stopwatch.GetElapsedTime(second, now).TotalSeconds);
            second = now;
        }

        await WaitUntilAsync(settings.Duration);
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        LatencySnapshot roundTrips = trips.Take();
        allocated = GC.GetTotalAllocatedBytes() - allocated;
        ownCpu = Environment.CpuUsage.TotalTime - ownCpu;
        server.Refresh();
        serverCpu = server.TotalProcessorTime - serverCpu;
        trips.EndCalls();
        await callers;
        foreach (ICalls connection in connections)
        {
            await connection.DisposeAsync();
        }

        Console.WriteLine(JsonSerializer.Serialize(
            new
            {
                Messages = roundTrips.Count,
                Seconds = seconds,
                MessagesPerS = roundTrips.Count / seconds,
                Errors = 0,
                P50Us = Trip(roundTrips.P50),
                P95Us = Trip(roundTrips.P95),
                P99Us = Trip(roundTrips.P99),
                MaxUs = Trip(roundTrips.Max),
                ClientCpuS = ownCpu.TotalSeconds,
                ClientPeakRssKb = Process.GetCurrentProcess().PeakWorkingSet64 / 1024,
                ClientAllocatedBytes = allocated,
                ServerCpuS = serverCpu.TotalSeconds,
                ServerCpuUsPerMessage = serverCpu.TotalMicroseconds / roundTrips.Count,
                ServerPeakRssKb = server.PeakWorkingSet64 / 1024,
                BySecond = bySecond,
            },
            Format));

        Task WaitUntilAsync(TimeSpan time)
        {
            TimeSpan left = time - Stopwatch.GetElapsedTime(began);
            return WaitAsync(callers, left > TimeSpan.Zero ? left : TimeSpan.Zero);
        }

        // Items of a stream are counted only.
        double? Trip(long nanoseconds) => settings.Mode == CallMode.Unary ? nanoseconds / 1e3 : null;
    }

    private static Task RunAsync(CallLoadSettings settings, ICalls connection, int number, RoundTrips trips)
    {
        var payload = new Payload(settings.Size, number);
        return settings.Mode switch
        {
            CallMode.Exchange => connection.RunExchangeAsync(payload, new Payload(settings.Size, number), trips),
            CallMode.Watch => connection.RunWatcherAsync(payload, trips),
            _ => connection.RunCallerAsync(payload, trips),
        };
    }

    // A caller that fails ends the run at once.
    private static async Task WaitAsync(Task callers, TimeSpan time)
    {
        if (await Task.WhenAny(callers, Task.Delay(time)) == callers)
        {
            await callers;
        }
    }
}
