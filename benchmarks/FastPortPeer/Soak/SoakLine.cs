using System.Text.Json;

namespace FastPortPeer.Soak;

/// <summary>Lines of JSON for whoever started the soak.</summary>
internal static class SoakLine
{
    private static readonly JsonSerializerOptions Format = new() { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };

    /// <summary>Prints what the process holds now: resident memory, and the managed heap after a collection.</summary>
    public static void PrintMemory()
    {
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true);
        Print(new { Kind = "memory", RssKb = Environment.WorkingSet / 1024, HeapBytes = GC.GetTotalMemory(forceFullCollection: false) });
    }

    public static void Print<T>(T line) => Console.WriteLine(JsonSerializer.Serialize(line, Format));

    /// <summary>Prints memory at intervals until cancelled.</summary>
    public static async Task PrintMemoryAsync(TimeSpan interval, CancellationToken stop)
    {
        using var timer = new PeriodicTimer(interval);
        try
        {
            while (await timer.WaitForNextTickAsync(stop))
            {
                PrintMemory();
            }
        }
        catch (OperationCanceledException)
        {
            // The soak is over.
        }
    }
}
