namespace FastPort.Comparisons.Hostile;

/// <summary>Peers that ask for a lot and read nothing: their windows close, and what they asked for stays with the server.</summary>
internal static class SlowReaders
{
    private const int SmallWindow = 4096;
    private const int Streamed = 1_000_000;
    private const int StreamedBytes = 1000;
    private const int Echoes = 200;
    private const int EchoBytes = 100_000;

    // Longer than the time in which a peer has to take something.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(40);

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        new PacedAttacker("zero-window-source", "ask for a stream of 1 GB and read none of it, for 40 s; as a user", 10, 100, SourceAsync),
        new PacedAttacker("zero-window-echo", "echo 20 MB and read none of it, for 40 s; as a user", 2, 20, EchoAsync),
        new PacedAttacker("zero-window-topic", "subscribe to a topic that is flooded and read nothing; as a user", 2, 20, TopicAsync),
    ];

    private static async Task SourceAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.LogInAsync(ending, SmallWindow);
        byte[] body = [.. HostileFrames.Field(1, Streamed), .. HostileFrames.Field(2, StreamedBytes)];
        await peer.SendAsync(HostileFrames.Frame(HostileFrames.Source, 2, body), ending);
        await Task.Delay(Patience, ending);
    }

    private static async Task EchoAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.LogInAsync(ending, SmallWindow);
        byte[] echo = HostileFrames.Frame(HostileFrames.Echo, 2, HostileFrames.Field(1, new byte[EchoBytes]));
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(ending);
        limit.CancelAfter(Patience);
        for (int i = 0; i < Echoes; i++)
        {
            await peer.SendAsync(echo, limit.Token);
        }

        await Task.Delay(Patience, limit.Token);
    }

    private static async Task TopicAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.LogInAsync(ending, SmallWindow);
        await peer.SendAsync(HostileFrames.Frame(HostileFrames.Subscribe, 2, HostileFrames.Field(1, Storms.Topic)), ending);
        await Task.Delay(Patience, ending);
    }
}
