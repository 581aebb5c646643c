namespace FastPort.Client.Load;

/// <summary>One connection of a load that has requests in flight.</summary>
internal interface ILane
{
    /// <summary>Completes when the lane was stopped and no request is in flight.</summary>
    Task Drained { get; }

    /// <summary>Stops sending; <see cref="Drained"/> completes with the last reply.</summary>
    void Stop();

    /// <summary>Stops waiting for the requests that are in flight, and stops counting them. Returns their number.</summary>
    int Abandon();
}

/// <summary>Ends all lanes of a load.</summary>
internal static class Lanes
{
    /// <summary>
    /// Stops all lanes and waits for the requests in flight; returns the number of requests that were not answered in time.
    /// </summary>
    public static async Task<int> DrainAsync(IReadOnlyCollection<ILane> lanes, TimeSpan timeout, TimeProvider time)
    {
        foreach (ILane lane in lanes)
        {
            lane.Stop();
        }

        return await LoadTimer.EndsWithinAsync(Task.WhenAll(lanes.Select(static l => l.Drained)), timeout, time).ConfigureAwait(false)
            ? 0
            : lanes.Sum(static lane => lane.Abandon());
    }
}
