using System.Security.Cryptography;

namespace FastPort.Comparisons.Hostile;

/// <summary>Frames that are too long, end too early, or are none.</summary>
internal static class BrokenFrames
{
    private const int TooLong = 1024 * 1024 + 1;
    private const int Claimed = 100_000;
    private const int Sent = 50_000;
    private const int RandomBytes = 4096;

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        new PacedAttacker("oversized-hello", "a first frame of 2 GiB; as a stranger", 50, 20, StrangersAsync),
        new PacedAttacker("oversized-frame", "a frame of 1 byte over the limit, and its bytes; as a user", 20, 10, OversizedAsync),
        new PacedAttacker("truncated-frame", "half of a frame, then the end of the stream; as a user", 50, 20, TruncatedAsync),
        new PacedAttacker("malformed-frame", "unknown versions, flags and lengths; as a user", 50, 20, MalformedAsync),
        new PacedAttacker("malformed-body", "bodies of random bytes for every type; as a user", 50, 20, BodiesAsync),
        new PacedAttacker("random-bytes", "4 KiB of random bytes; as a stranger", 50, 20, RandomAsync),
    ];

    private static async Task StrangersAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectAsync(ending);
        byte[] header = HostileFrames.Header(HostileFrames.Hello, 0, 1, int.MaxValue - HostileFrames.HeaderBytes);
        await SendAndWaitAsync(peer, header, ending);
    }

    private static async Task OversizedAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.LogInAsync(ending);
        await SendAndWaitAsync(peer, [.. HostileFrames.Header(HostileFrames.Echo, 0, 1, TooLong), .. new byte[Sent]], ending);
    }

    private static async Task TruncatedAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.LogInAsync(ending);
        await peer.SendAsync(HostileFrames.Header(HostileFrames.Echo, 0, 1, Claimed), ending);
        await peer.SendAsync(new byte[Sent], ending);
        peer.EndSending();
        await SendAndWaitAsync(peer, [], ending);
    }

    private static async Task MalformedAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.LogInAsync(ending);
        byte[] frame = HostileFrames.Frame(HostileFrames.Echo, 1);
        int which = RandomNumberGenerator.GetInt32(4);
        (int at, byte value) = which switch { 0 => (0, (byte)7), 1 => (6, (byte)0xE0), 2 => (7, (byte)9), _ => (6, HostileFrames.Error) };
        frame[at] = value;
        await SendAndWaitAsync(peer, frame, ending);
    }

    private static async Task BodiesAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.LogInAsync(ending);
        byte[] frames =
        [
            .. Enumerable.Range(1, 9).Concat(Enumerable.Range(HostileFrames.Echo, 5)).Where(static type => type != 3)
                .SelectMany(static type => HostileFrames.Frame((ushort)type, (uint)type, RandomNumberGenerator.GetBytes(64))),
        ];
        await peer.SendAsync(frames, ending);
        peer.EndSending();
        await peer.DrainAsync(ending);
    }

    private static async Task RandomAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectAsync(ending);
        await SendAndWaitAsync(peer, RandomNumberGenerator.GetBytes(RandomBytes), ending);
    }

    private static async Task SendAndWaitAsync(HostilePeer peer, byte[] bytes, CancellationToken ending)
    {
        await peer.SendAsync(bytes, ending);
        await peer.DrainAsync(ending);
        throw new IOException("The server has closed it.");
    }
}
