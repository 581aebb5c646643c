using FastPort.Protocol;

namespace FastPort.Client.Top;

/// <summary>What a server did between two looks at it.</summary>
/// <param name="Now">The later look.</param>
/// <param name="Types">The message types that were handled, in the order of the server.</param>
/// <param name="MessagesInPerSecond">Messages received.</param>
/// <param name="MessagesOutPerSecond">Messages sent.</param>
/// <param name="BytesInPerSecond">Bytes received.</param>
/// <param name="BytesOutPerSecond">Bytes sent.</param>
/// <param name="ErrorsPerSecond">Errors sent.</param>
/// <param name="RejectedPerSecond">Connections rejected.</param>
/// <param name="DroppedPerSecond">Messages dropped.</param>
/// <param name="Loops">The busy share of each event loop, 0 to 1; empty where the server has none, or is of an earlier version.</param>
internal sealed record TopFigures(
    ServerStatus Now,
    IReadOnlyList<TopType> Types,
    double MessagesInPerSecond,
    double MessagesOutPerSecond,
    double BytesInPerSecond,
    double BytesOutPerSecond,
    double ErrorsPerSecond,
    double RejectedPerSecond,
    double DroppedPerSecond,
    IReadOnlyList<double> Loops)
{
    /// <summary>Compares two looks.</summary>
    /// <param name="before">The earlier look; of a server that has started again since, everything counts.</param>
    /// <param name="now">The later look.</param>
    public static TopFigures Between(ServerStatus before, ServerStatus now)
    {
        if (now.UptimeMs < before.UptimeMs)
        {
            before = new ServerStatus();
        }

        double seconds = Math.Max(now.UptimeMs - before.UptimeMs, 1) / 1e3;

        // Servers of earlier versions may have several types of one name, always in the same order.
        Dictionary<(string, int), MessageLatency> earlier = Numbered(before.Latencies).ToDictionary();
        return new TopFigures(
            now,
            [
                .. Numbered(now.Latencies)
                    .Select(type => TopType.Between(earlier.GetValueOrDefault(type.Key) ?? new MessageLatency(), type.Value, seconds)),
            ],
            Rate(before.MessagesIn, now.MessagesIn),
            Rate(before.MessagesOut, now.MessagesOut),
            Rate(before.BytesIn, now.BytesIn),
            Rate(before.BytesOut, now.BytesOut),
            Rate(before.ErrorsSent, now.ErrorsSent),
            Rate(before.ConnectionsRejected, now.ConnectionsRejected),
            Rate(before.FramesDropped, now.FramesDropped),
            [.. now.LoopIdleUs.Select((idle, loop) => Busy(loop < before.LoopIdleUs.Count ? before.LoopIdleUs[loop] : 0, idle))]);

        static IEnumerable<KeyValuePair<(string, int), MessageLatency>> Numbered(IEnumerable<MessageLatency> types) =>
            types.GroupBy(static type => type.Name, StringComparer.Ordinal)
                .SelectMany(static same => same.Select((type, i) => KeyValuePair.Create((same.Key, i), type)));

        double Busy(ulong from, ulong to) => Math.Clamp(1 - (to < from ? to : to - from) / (seconds * 1e6), 0, 1);

        double Rate(ulong from, ulong to) => to < from ? to / seconds : (to - from) / seconds;
    }
}

/// <summary>A message type between two looks. Latencies are nanoseconds; null where nothing was handled.</summary>
internal sealed record TopType(string Name, double PerSecond, ulong Errors, ulong? P50, ulong? P99, ulong? P999, ulong? Max)
{
    /// <summary>Compares two looks.</summary>
    public static TopType Between(MessageLatency before, MessageLatency now, double seconds)
    {
        List<(ulong Nanoseconds, ulong Count)> added = Since(before, now);
        ulong count = added.Aggregate(0UL, static (sum, bucket) => sum + bucket.Count);
        return new TopType(now.Name, count / seconds, now.Errors, Percentile(50), Percentile(99), Percentile(99.9), Percentile(100));

        ulong? Percentile(double percent)
        {
            if (count == 0)
            {
                return null;
            }

            ulong rank = Math.Max(1, (ulong)decimal.Ceiling((decimal)percent * count / 100));
            ulong seen = 0;
            return added.First(bucket => (seen += bucket.Count) >= rank).Nanoseconds;
        }
    }

    // Statistics that were restarted have less than before: then everything counts.
    private static List<(ulong Nanoseconds, ulong Count)> Since(MessageLatency before, MessageLatency now)
    {
        Dictionary<ulong, ulong> earlier = [];
        for (int i = 0; i < before.Nanoseconds.Count && i < before.Counts.Count; i++)
        {
            earlier[before.Nanoseconds[i]] = before.Counts[i];
        }

        List<(ulong Nanoseconds, ulong Count)> all = [.. now.Nanoseconds.Zip(now.Counts)];
        bool restarted = all.Exists(bucket => bucket.Count < earlier.GetValueOrDefault(bucket.Nanoseconds));
        return restarted
            ? all
            : [.. all.Select(bucket => (bucket.Nanoseconds, bucket.Count - earlier.GetValueOrDefault(bucket.Nanoseconds)))
                .Where(static bucket => bucket.Item2 > 0)];
    }
}
