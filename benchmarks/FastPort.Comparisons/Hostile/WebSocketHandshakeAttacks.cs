using System.Security.Cryptography;
using System.Text;

namespace FastPort.Comparisons.Hostile;

/// <summary>Handshakes of foreign pages, of those who speak another protocol, too large ones, and those that never end.</summary>
internal static class WebSocketHandshakeAttacks
{
    private const int GiantBytes = 256 * 1024;

    // Longer than every deadline for strangers.
    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(15);

    private static readonly (string Right, string Wrong, int Status)[] Wrongs =
    [
        ("GET ", "POST ", 405), (HostilePlan.WebSocketPath, "/admin", 404), ("HTTP/1.1", "HTTP/1.0", 400),
        ("Upgrade: websocket\r\n", "", 426), ("fastport.v1", "mqtt", 400), ("Host: ", "Host : ", 400),
        ("Host: ", "Host: a\r\nHost: ", 400), ("dGhl", "====", 400),
    ];

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        new PacedAttacker("ws-cross-site", "pages of foreign origins, with and without the user's cookies; 403", 50, 20, CrossSiteAsync),
        new PacedAttacker("ws-wrong-handshake", "other methods, paths, versions and fields; the status of each", 50, 20, WrongAsync),
        new PacedAttacker("ws-giant-handshake", "header fields of 256 KiB; 431", 20, 10, GiantAsync),
        new PacedAttacker("ws-half-handshake", "half of a handshake, then nothing for 15 s", 100, 1000, HalfAsync),
        new PacedAttacker("ws-loris", "a handshake, a byte a second", 20, 200, LorisAsync),
        new PacedAttacker("ws-bytes", "a good handshake, a byte in each packet; it is let in", 5, 5, BytesAsync),
    ];

    private static Task CrossSiteAsync(AttackTarget target, CancellationToken ending)
    {
        string origin = RandomNumberGenerator.GetInt32(4) switch
        {
            0 => "https://evil.example",
            1 => $"http://{target.Plan.Host}.evil.example",
            2 => "null",
            _ => $"http://{target.Plan.Host}:1\r\nCookie: token={target.Plan.GuestToken}",
        };
        return ExpectAsync(target, $"{WebSocketPeers.Request(target.Plan)}Origin: {origin}\r\n\r\n", 403, ending);
    }

    private static Task WrongAsync(AttackTarget target, CancellationToken ending)
    {
        var (right, wrong, status) = Wrongs[RandomNumberGenerator.GetInt32(Wrongs.Length)];
        string request = WebSocketPeers.Request(target.Plan).Replace(right, wrong, StringComparison.Ordinal);
        return ExpectAsync(target, $"{request}\r\n", status, ending);
    }

    private static Task GiantAsync(AttackTarget target, CancellationToken ending) =>
        ExpectAsync(target, $"{WebSocketPeers.Request(target.Plan)}Cookie: {new string('a', GiantBytes)}\r\n\r\n", 431, ending);

    private static async Task HalfAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectWebSocketAsync(ending);
        byte[] request = Encoding.ASCII.GetBytes(WebSocketPeers.Request(target.Plan));
        await peer.SendAsync(request.AsMemory(0, RandomNumberGenerator.GetInt32(1, request.Length)), ending);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(ending);
        limit.CancelAfter(Silence);
        await peer.DrainAsync(limit.Token);
        throw new IOException("The server has closed it.");
    }

    private static async Task LorisAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectWebSocketAsync(ending);
        await SlowAttacks.DripAsync(peer, Encoding.ASCII.GetBytes(WebSocketPeers.Request(target.Plan)), ending);
    }

    private static async Task BytesAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectWebSocketAsync(ending);
        foreach (byte one in Encoding.ASCII.GetBytes($"{WebSocketPeers.Request(target.Plan)}\r\n"))
        {
            await peer.SendAsync(new[] { one }, ending);
        }

        Check(await WebSocketPeers.StatusAsync(peer, ending), 101);
    }

    private static async Task ExpectAsync(AttackTarget target, string request, int status, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectWebSocketAsync(ending);
        Check(await WebSocketPeers.AskAsync(peer, request, ending), status);
        throw new IOException("It was refused.");
    }

    private static void Check(int status, int expected)
    {
        if (status != expected)
        {
            throw new ComparisonException(FormattableString.Invariant($"answered with {status} instead of {expected}"));
        }
    }
}
