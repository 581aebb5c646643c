using System.Diagnostics;
using FastPort.Telemetry;
using OpcUaPeer.Ticks;

namespace OpcUaPeer.Sharing;

/// <summary>
/// Sessions of a bridge that all read the same tags at the same rate, one after the other. A thread of its own keeps the time and only
/// begins each request; one that is due while the session's request before is under way is missed.
/// </summary>
internal sealed class SharingClient(SharingSession[] sessions, int serverId, int? bridgeId)
{
    private const int Sessions = 64;
    private const int PerSecond = 100;

    private static readonly TimeSpan LastPatience = TimeSpan.FromSeconds(30);

    public static async Task RunAsync(string endpoint, int serverId, int? bridgeId)
    {
        SharingSession[] sessions = await Task.WhenAll(Enumerable.Range(0, Sessions).Select(_ => SharingSession.ConnectAsync(endpoint)));
        try
        {
            await RunLines.AnswerAsync(new SharingClient(sessions, serverId, bridgeId).MeasureAsync);
        }
        finally
        {
            await Task.WhenAll(sessions.Select(static session => session.DisposeAsync().AsTask()));
        }
    }

    private async Task<string> MeasureAsync(double leadIn, double seconds)
    {
        await ReadAsync(leadIn);
        Array.ForEach(sessions, static session => session.Reset());
        long before = await sessions[0].CountAsync();
        var usage = ProcessUsage.Read(serverId, bridgeId);
        long begun = Stopwatch.GetTimestamp();
        await ReadAsync(seconds);
        double elapsed = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        usage = ProcessUsage.Read(serverId, bridgeId).Since(usage);

        // The Read that tells it is not one of the sessions'.
        long reads = await sessions[0].CountAsync() - before - 1;
        var all = new LatencyHistogram();
        Array.ForEach(sessions, session => all.Merge(session.RoundTrips));
        return new LoadFigures(all.Snapshot(), elapsed, usage, serverId)
        {
            SourceReads = reads,
            OldestValue = sessions.Max(static session => session.Oldest),
            Missed = sessions.Sum(static session => (long)session.Missed),
        }.ToLine();
    }

    private async Task ReadAsync(double seconds)
    {
        await Task.Factory.StartNew(() => Begin(seconds), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        try
        {
            await Task.WhenAll(sessions.Select(static session => session.EndAsync())).WaitAsync(LastPatience);
        }
        catch (TimeoutException e)
        {
            throw new PeerException($"The last requests were not answered within {LastPatience.TotalSeconds:0} s.", e);
        }
    }

    private void Begin(double seconds)
    {
        long start = Stopwatch.GetTimestamp();
        long requests = (long)(seconds * PerSecond * Sessions);
        for (long request = 0; request < requests; request++)
        {
            TickClock.WaitUntil(start + (request * Stopwatch.Frequency / (PerSecond * Sessions)));
            sessions[request % Sessions].Begin();
        }
    }
}
