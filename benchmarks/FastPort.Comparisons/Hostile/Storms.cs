namespace FastPort.Comparisons.Hostile;

/// <summary>Sessions of a user that send what is allowed, without end: each some frames every 50 ms, and reads what comes.</summary>
internal static class Storms
{
    /// <summary>The topic that is flooded.</summary>
    public const string Topic = "noise/";

    private const int PublicationBytes = 512;
    private const int BatchesASecond = 20;

    // Rooms that nobody counts on: longer than an attack, the rest is for sessions that were closed.
    private const double Anew = 2;

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1.0 / BatchesASecond);

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        Storm("storm-cancel", "1,000 Cancels/s for requests that never were, and for Echoes just sent", 4, 50, static i =>
            i % 2 == 0 ? HostileFrames.Frame(HostileFrames.Echo, (uint)(i + 1)) : Cancel(i % 4 == 1 ? (uint)i : uint.MaxValue)),
        Storm("storm-ping", "1,000 Pings/s", 4, 50, static i => HostileFrames.Frame(HostileFrames.Ping, (uint)(i + 1))),
        Storm("storm-subscribe", "2,000 Subscribes and Unsubscribes/s, twice what is allowed", 2, 100, static i => HostileFrames.Frame(
            i % 2 == 0 ? HostileFrames.Subscribe : HostileFrames.Unsubscribe, (uint)(i + 1), HostileFrames.Field(1, $"noise/{i / 2}"))),
        Storm("storm-publish", "100 Publishes/s to the topic of all 20, and of those who read nothing", 20, 5, Publication),
        Storm("storm-forbidden", "400 Publishes/s to a topic of others", 2, 20, static i =>
            HostileFrames.Frame(HostileFrames.Publish, (uint)(i + 1), HostileFrames.Field(1, "plant/valve"))),
        Storm("storm-errors", "200 error frames/s that answer nothing, with lines for the log", 2, 10, static _ => ErrorFrame()),
    ];

    private static PacedAttacker Storm(string name, string what, int sessions, int framesABatch, Func<int, byte[]> frame)
    {
        byte[] batch = [.. Enumerable.Range(0, framesABatch).SelectMany(frame)];
        return new PacedAttacker(
            name, $"each session: {what}; as a user", Anew, sessions, (target, ending) => FloodAsync(target, batch, ending));
    }

    private static async Task FloodAsync(AttackTarget target, byte[] batch, CancellationToken ending)
    {
        using HostilePeer peer = await target.LogInAsync(ending);
        await peer.SendAsync(
            HostileFrames.Frame(HostileFrames.Subscribe, 2, HostileFrames.Field(1, batch.Length == 0 ? "" : Topic)), ending);
        await peer.FloodAsync(batch, Pause, ending);
    }

    private static byte[] Publication(int i)
    {
        byte[] body = [.. HostileFrames.Field(1, $"{Topic}x"), .. HostileFrames.Field(3, new byte[PublicationBytes])];
        return HostileFrames.Frame(HostileFrames.Publish, (uint)(i + 1), body);
    }

    private static byte[] Cancel(uint correlation) => HostileFrames.Frame(HostileFrames.Cancel, 0, HostileFrames.Field(1, correlation));

    private static byte[] ErrorFrame()
    {
        byte[] body = [.. HostileFrames.Field(1, 1), .. HostileFrames.Field(2, "\n12:00:00.000 ERR forged \r\u001b[2J\u2028\\")];
        return [.. HostileFrames.Header(0, HostileFrames.Reply | HostileFrames.Error, 1, body.Length), .. body];
    }
}
