using System.Diagnostics;

namespace ServicePeer.Calls;

/// <summary>
/// Calls of the generated client and calls by number, in turn in one process: both meet the same server, the same optimized code below them
/// and the same moment of the machine, so that a hundredth is seen.
/// </summary>
internal static class Alternation
{
    private const int Connections = 32;
    private const int Callers = 16;
    private const int Size = 64;
    private static readonly TimeSpan Turn = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(10);

    /// <summary>Prints the ratio of the calls per second of each pair, generated to by number.</summary>
    public static async Task RunAsync(string endpoint, int pairs)
    {
        await using var generated = new Side(() => new FastPortCalls(endpoint, continuesOnLoop: false));
        await using var numbered = new Side(() => new NumberedCalls(endpoint));
        await generated.ConnectAsync();
        await numbered.ConnectAsync();
        for (long began = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(began) < WarmUp;)
        {
            await generated.RunAsync();
            await numbered.RunAsync();
        }

        double[] ratios = new double[pairs];
        for (int pair = 0; pair < pairs; pair++)
        {
            bool isGeneratedFirst = pair % 2 == 0;
            double first = await (isGeneratedFirst ? generated : numbered).RunAsync();
            double second = await (isGeneratedFirst ? numbered : generated).RunAsync();
            ratios[pair] = isGeneratedFirst ? first / second : second / first;
        }

        Array.Sort(ratios);
        (double low, double high) = MedianInterval.Of(ratios);
        Console.WriteLine($"generated / by number, {pairs} pairs: {ratios[pairs / 2]:F3} ({low:F3} - {high:F3})");
    }

    /// <summary>The connections of one of the two.</summary>
    private sealed class Side(Func<ICalls> create) : IAsyncDisposable
    {
        private readonly ICalls[] _connections = [.. Enumerable.Range(0, Connections).Select(_ => create())];

        public Task ConnectAsync() => Task.WhenAll(_connections.Select(static connection => connection.ConnectAsync()));

        /// <summary>Calls for one turn; returns the calls per second.</summary>
        public async Task<double> RunAsync()
        {
            using var trips = new RoundTrips();
            long began = Stopwatch.GetTimestamp();
            Task callers = Task.WhenAll(Enumerable.Range(0, Connections * Callers).Select(number => Task.Run(
                () => _connections[number % Connections].RunCallerAsync(new Payload(Size, number), trips))));
            await Task.WhenAny(callers, Task.Delay(Turn));
            trips.EndCalls();
            await callers;
            return trips.Take().Count / Stopwatch.GetElapsedTime(began).TotalSeconds;
        }

        public async ValueTask DisposeAsync()
        {
            foreach (ICalls connection in _connections)
            {
                await connection.DisposeAsync();
            }
        }
    }
}
