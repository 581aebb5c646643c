using System.Net;
using System.Security.Cryptography;
using System.Text;

namespace FastPort.Comparisons.Hostile;

/// <summary>PROXY headers that are wrong, from the address whose headers are read, and right ones from everywhere else.</summary>
internal static class ProxyAttacks
{
    private static readonly byte[] Signature = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A];

    private static readonly byte[][] Wrong =
    [
        Line("PROXY TCP4 1.2.3.4 5.6.7.8 70000 6628\r\n"),
        Line("PROXY TCP4 1.2.3.400 5.6.7.8 1000 6628\r\n"),
        Line("PROXY TCP9 nonsense\r\n"),
        Line($"PROXY TCP4 {new string('1', 2000)}"),
        HostileFrames.HelloFrame("", "no header at all"),
        [.. Signature, 0x21, 0x11, 0xFF, 0xFF, .. new byte[500]],
        [.. Signature, 0x91, 0x11, 0x00, 0x0C, .. new byte[12]],
        [.. Signature, 0x21, 0x11, 0x00, 0x02, 1, 2],
        [.. Signature, 0x21, 0x21, 0x00, 0x0C, .. new byte[12]],
    ];

    private static readonly byte[] Right = Line("PROXY TCP4 127.0.0.1 127.0.0.1 1000 6628\r\n");

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        new PacedAttacker("proxy-wrong", "nine wrong PROXY headers, from the trusted proxy's address", 40, 20, static (t, e) => SayAsync(
            t, t.Proxy, Wrong[RandomNumberGenerator.GetInt32(Wrong.Length)], e)),
        new PacedAttacker("proxy-slow", "a PROXY header that does not end, from the trusted proxy's address", 10, 100, static (t, e) =>
            SayAsync(t, t.Proxy, Right[..20], e)),
        new PacedAttacker("proxy-untrusted", "a right PROXY header from an address that is no proxy's", 20, 10, static (t, e) =>
            SayAsync(t, t.NextSource(), [.. Right, .. HostileFrames.HelloFrame("", t.Plan.GuestToken)], e)),
    ];

    private static async Task SayAsync(AttackTarget target, IPAddress source, byte[] bytes, CancellationToken ending)
    {
        using HostilePeer peer = await HostilePeer.ConnectAsync(target.Tcp, source, ending);
        await peer.SendAsync(bytes, ending);
        await peer.DrainAsync(ending);
        throw new IOException("The server has closed it.");
    }

    private static byte[] Line(string text) => Encoding.ASCII.GetBytes(text);
}
