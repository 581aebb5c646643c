using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Json;
using FastPort.Redis.Topics;

namespace FastPortPeer.Nodes;

/// <summary>What it costs a node to know the prefixes that others want.</summary>
internal static class InterestCosts
{
    private const int Prefixes = 500_000;
    private const int Topics = 200_000;

    /// <summary>Prints a line of JSON: microseconds of one core, and bytes that stay in memory.</summary>
    public static void Print()
    {
        byte[][] prefixes = [.. Enumerable.Range(0, Prefixes).Select(static i => Encoding.UTF8.GetBytes(
            string.Create(CultureInfo.InvariantCulture, $"plant-{i % 100}/line-{i / 100 % 100}/machine-{i / 10_000}/")))];
        byte[][] topics = [.. prefixes.Take(Topics).Select(static prefix => (byte[])[.. prefix, .. "temperature"u8])];

        // The first time the code is compiled.
        Learn(new InterestTable(), prefixes[..10_000]);
        var table = new InterestTable();
        (double learned, double bytes) = Learn(table, prefixes, 1);
        (double second, double secondBytes) = Learn(table, prefixes, 2);
        Match(table, topics);
        double matched = Match(table, topics);
        Console.WriteLine(JsonSerializer.Serialize(new Dictionary<string, double>(StringComparer.Ordinal)
        {
            ["learned_us"] = learned,
            ["bytes"] = bytes,
            ["second_us"] = second,
            ["second_bytes"] = secondBytes,
            ["matched_us"] = matched,
        }));
    }

    private static (double Microseconds, double Bytes) Learn(InterestTable table, byte[][] prefixes, ulong node = 1)
    {
        table.AddNode(node, static _ => true);
        long before = GC.GetTotalMemory(forceFullCollection: true);
        long begun = Stopwatch.GetTimestamp();
        foreach (byte[] prefix in prefixes)
        {
            table.TryAdd(node, prefix);
        }

        double time = Stopwatch.GetElapsedTime(begun).TotalMicroseconds;
        double bytes = GC.GetTotalMemory(forceFullCollection: true) - before;
        return (time / prefixes.Length, bytes / prefixes.Length);
    }

    private static double Match(InterestTable table, byte[][] topics)
    {
        int found = 0;
        long begun = Stopwatch.GetTimestamp();
        Span<ulong> marks = stackalloc ulong[InterestTable.MarkWords];
        foreach (byte[] topic in topics)
        {
            marks.Clear();
            InterestTable.Matches nodes = table.Match(topic, marks);
            while (nodes.MoveNext())
            {
                found++;
            }
        }

        double time = Stopwatch.GetElapsedTime(begun).TotalMicroseconds;
        return found == 2 * topics.Length ? time / topics.Length
            : throw new PeerException($"{found} nodes want {topics.Length} topics.");
    }
}
