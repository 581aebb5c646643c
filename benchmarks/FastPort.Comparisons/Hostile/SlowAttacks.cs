namespace FastPort.Comparisons.Hostile;

/// <summary>Slow-loris: what was begun goes on, a byte at a time, and never ends.</summary>
internal static class SlowAttacks
{
    private const int FrameBytes = 1024 * 1024 - 64;
    private const int BytesAtOnce = FrameBytes / 2;

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    // The beginning of a TLS record with a ClientHello of 508 bytes.
    private static readonly byte[] ClientHello = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3, .. new byte[500]];

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        new PacedAttacker("loris-hello", "a Hello, a byte a second", 50, 300, HelloAsync),
        new PacedAttacker("loris-frame", "half of a frame of 1 MiB, then a byte a second; as a user", 20, 200, FrameAsync),
        new PacedAttacker("loris-tls", "a ClientHello, a byte a second", 20, 100, TlsAsync),
    ];

    private static async Task HelloAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectAsync(ending);
        await DripAsync(peer, HostileFrames.HelloFrame("", target.Plan.GuestToken), ending);
    }

    private static async Task TlsAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectTlsAsync(ending);
        await DripAsync(peer, ClientHello, ending);
    }

    private static async Task FrameAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.LogInAsync(ending);
        await peer.SendAsync(HostileFrames.Header(HostileFrames.Echo, 0, 1, FrameBytes), ending);
        await peer.SendAsync(new byte[BytesAtOnce], ending);
        await DripAsync(peer, new byte[FrameBytes - BytesAtOnce], ending);
    }

    /// <summary>Sends a byte a second. Sending finds out that the server has closed it.</summary>
    public static async Task DripAsync(HostilePeer peer, ReadOnlyMemory<byte> bytes, CancellationToken ending)
    {
        using var timer = new PeriodicTimer(Pause);
        for (int i = 0; i < bytes.Length; i++)
        {
            await peer.SendAsync(bytes.Slice(i, 1), ending);
            await timer.WaitForNextTickAsync(ending);
        }
    }
}
