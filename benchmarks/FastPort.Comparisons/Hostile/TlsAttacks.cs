using System.Net.Security;
using System.Security.Authentication;

namespace FastPort.Comparisons.Hostile;

/// <summary>What can be done to TLS: handshakes for nothing, a handshake within the session, old versions, wrong protocols.</summary>
internal static class TlsAttacks
{
    // A record with a ClientHello, in plain text: what a renegotiation would begin with.
    private static readonly byte[] ClientHello = [0x16, 3, 3, 0, 45, 1, 0, 0, 41, 3, 3, .. new byte[32], 0, 0, 2, 0x13, 1, 1, 0, 0, 0];

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        new PacedAttacker("tls-handshakes", "a full handshake, then the end", 20, 10, HandshakeAsync),
        new PacedAttacker("tls-renegotiation", "a ClientHello within the session", 5, 5, RenegotiateAsync),
        new PacedAttacker("tls-downgrade", "TLS 1.2 alone", 10, 5, DowngradeAsync),
        new PacedAttacker("tls-plain", "frames instead of a handshake", 20, 10, PlainAsync),
    ];

    private static async Task HandshakeAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectTlsAsync(ending);
        await peer.EncryptAsync(Wanting(SslProtocols.None, target), ending);
    }

    private static async Task RenegotiateAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectTlsAsync(ending);
        await peer.EncryptAsync(Wanting(SslProtocols.None, target), ending);
        await peer.Socket.SendAsync(ClientHello, ending);
        await peer.DrainAsync(ending);
        throw new IOException("The server has closed it.");
    }

    private static async Task DowngradeAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectTlsAsync(ending);
        await peer.EncryptAsync(Wanting(SslProtocols.Tls12, target), ending);
        throw new ComparisonException("The server has agreed on TLS 1.2, which it was not told to allow.");
    }

    private static async Task PlainAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectTlsAsync(ending);
        await peer.SendAsync(HostileFrames.HelloFrame("", target.Plan.GuestToken), ending);
        await peer.DrainAsync(ending);
        throw new IOException("The server has closed it.");
    }

    // What is resumed would cost the server less.
    private static SslClientAuthenticationOptions Wanting(SslProtocols versions, AttackTarget target)
    {
        SslClientAuthenticationOptions options = HostilePeer.Trusting(target.Plan.Host, target.Plan.AuthorityFile);
        options.EnabledSslProtocols = versions;
        options.AllowTlsResume = false;
        return options;
    }
}
