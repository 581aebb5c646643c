using System.Net;
using System.Security.Cryptography;

namespace FastPort.Comparisons.Hostile;

/// <summary>Connections that want nothing: they come and go, are reset, or stay and say nothing.</summary>
internal static class ConnectAttacks
{
    // Longer than every deadline for strangers.
    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(15);

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        new PacedAttacker("connect-flood", "connect and close", 200, 50, ConnectAsync),
        new PacedAttacker("reset-flood", "connect, send half a Hello, reset", 100, 50, ResetAsync),
        new PacedAttacker("half-open", "connect and say nothing, for 15 s", 100, 1000, (t, e) => StayAsync(t, t.Tcp, e)),
        new PacedAttacker("half-open-tls", "the same at the encrypted endpoint", 30, 300, (t, e) => StayAsync(t, t.Tls, e)),
    ];

    private static async Task ConnectAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectAsync(ending);
    }

    private static async Task ResetAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectAsync(ending);
        byte[] hello = HostileFrames.HelloFrame("", target.Plan.GuestToken);
        await peer.SendAsync(hello.AsMemory(0, RandomNumberGenerator.GetInt32(hello.Length)), ending);
        peer.Reset();
    }

    private static async Task StayAsync(AttackTarget target, IPEndPoint server, CancellationToken ending)
    {
        using HostilePeer peer = await HostilePeer.ConnectAsync(server, target.NextSource(), ending);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(ending);
        limit.CancelAfter(Silence);
        await peer.DrainAsync(limit.Token);
        throw new IOException("The server has closed it.");
    }
}
