using System.Security.Cryptography;

namespace FastPort.Comparisons.Hostile;

/// <summary>Frames that no peer may send, and floods of those that it may.</summary>
internal static class WebSocketAttacks
{
    private const int BombBytes = 16 * 1024 * 1024;
    private const int FramesABatch = 1000;
    private const int BatchesASecond = 20;
    private const int SessionPings = 50;

    // Rooms that nobody counts on: longer than an attack, the rest is for sessions that were closed.
    private const double Anew = 2;

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1.0 / BatchesASecond);

    private static readonly byte[][] WrongCloses =
    [
        WebSocketFrames.CloseWith(0), WebSocketFrames.CloseWith(1005), WebSocketFrames.CloseWith(1006), WebSocketFrames.CloseWith(5000),
        WebSocketFrames.Frame(WebSocketFrames.Close, WebSocketFrames.Final, [1]),
    ];

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        Violation("ws-compressed", "16 MiB of zeros, compressed though nothing was agreed", 1002, WebSocketFrames.Bomb(BombBytes)),
        Violation("ws-text", "a text message", 1003, WebSocketFrames.Frame(WebSocketFrames.Text, WebSocketFrames.Final, new byte[64])),
        Violation("ws-unmasked", "a frame without a mask", 1002, [WebSocketFrames.Final | WebSocketFrames.Binary, 1, 1]),
        Violation("ws-long-control", "a Ping of 126 bytes", 1002,
            WebSocketFrames.Frame(WebSocketFrames.Ping, WebSocketFrames.Final, new byte[126])),
        Violation("ws-wrong-close", "a Close with a code that no peer may send", 1002, WrongCloses),
        Violation("ws-close-text", "a Close whose reason is no UTF-8", 1007, WebSocketFrames.CloseWith(1000, 0xC0, 0x80)),
        Storm("ws-storm-fragments", "1,000 Pings/s of the session in fragments of one byte", 1, WebSocketFrames.Fragments(
            [.. Enumerable.Range(1, SessionPings).SelectMany(static i => HostileFrames.Frame(HostileFrames.Ping, (uint)i))])),
        Storm("ws-storm-empty", "20,000 messages/s without data", FramesABatch,
            WebSocketFrames.Frame(WebSocketFrames.Binary, WebSocketFrames.Final, [])),
        Storm("ws-storm-ping", "20,000 WebSocket Pings/s of 125 bytes", FramesABatch,
            WebSocketFrames.Frame(WebSocketFrames.Ping, WebSocketFrames.Final, new byte[125])),
        Storm("ws-storm-open", "20,000 fragments/s without data, of a message that never ends", FramesABatch,
            WebSocketFrames.Frame(WebSocketFrames.Continuation, 0, []), WebSocketFrames.Frame(WebSocketFrames.Binary, 0, [])),
    ];

    private static PacedAttacker Violation(string name, string what, int code, params byte[][] frames) => new(
        name, FormattableString.Invariant($"{what}; {code}"), 20, 10,
        (target, ending) => ViolateAsync(target, frames[RandomNumberGenerator.GetInt32(frames.Length)], code, ending));

    private static PacedAttacker Storm(string name, string what, int frames, byte[] frame, byte[]? first = null)
    {
        byte[] batch = [.. Enumerable.Repeat(frame, frames).SelectMany(static bytes => bytes)];
        return new PacedAttacker(
            name, $"each session: {what}; as a user", Anew, 2, (target, ending) => FloodAsync(target, first ?? [], batch, ending));
    }

    private static async Task ViolateAsync(AttackTarget target, byte[] frame, int code, CancellationToken ending)
    {
        using HostilePeer peer = await WebSocketPeers.ConnectAsync(target, ending);
        await peer.SendAsync(frame, ending);
        int closed = await WebSocketFrames.CloseCodeAsync(peer, ending);
        throw closed == code
            ? new IOException("The server has closed it.")
            : new ComparisonException(FormattableString.Invariant($"closed with {closed} instead of {code}"));
    }

    private static async Task FloodAsync(AttackTarget target, byte[] first, byte[] batch, CancellationToken ending)
    {
        using HostilePeer peer = await WebSocketPeers.ConnectAsync(target, ending);
        byte[] hello = HostileFrames.HelloFrame("", target.Plan.GuestToken);
        await peer.SendAsync(WebSocketFrames.Frame(WebSocketFrames.Binary, WebSocketFrames.Final, hello), ending);
        await peer.SendAsync(first, ending);
        await peer.FloodAsync(batch, Pause, ending);
    }
}
