using System.Net;
using FastPort.Connections;

namespace FastPort.Limits;

/// <summary>Applies a list of bans to the peers of one server, except those that the server exempts. Thread-safe.</summary>
internal sealed class BanCheck(BanList bans, AddressNetworks exempt)
{
    /// <summary>The ban of an address; null for none.</summary>
    public Ban? Find(EndPoint? peer) => bans.Find(peer) is { } ban && !exempt.Contain(peer) ? ban : null;

    /// <summary>The ban of an identity; null for none.</summary>
    public Ban? Find(string user, EndPoint? peer) => bans.Find(user) is { } ban && !exempt.Contain(peer) ? ban : null;

    /// <summary>Whether a ban is one of this peer.</summary>
    /// <param name="ban">The ban.</param>
    /// <param name="peer">The peer's address.</param>
    /// <param name="user">Its identity; null for none.</param>
    public bool Hits(Ban ban, EndPoint? peer, string? user) =>
        (ban.Bans(peer) || (user is not null && ban.User == user)) && !exempt.Contain(peer);
}
