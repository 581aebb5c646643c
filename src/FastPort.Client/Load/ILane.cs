namespace FastPort.Client.Load;

/// <summary>One connection of a load that has requests in flight.</summary>
internal interface ILane
{
    /// <summary>Completes when the lane was stopped and nothing is in flight any more.</summary>
    Task Drained { get; }

    /// <summary>Sends no more; <see cref="Drained"/> completes with the last reply.</summary>
    void Stop();

    /// <summary>Gives up waiting: what is still in flight will not be counted again. Returns how many requests that are.</summary>
    int Abandon();
}

/// <summary>The end of all lanes of a load.</summary>
internal static class Lanes
{
    /// <summary>Stops all and waits for what is in flight; returns the requests that were not answered in time.</summary>
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
