using FastPort.Sessions;

namespace FastPort.Redis.Directory;

/// <summary>A claim of one of this node's sessions. <see cref="ClaimDirectory"/> changes it under its lock.</summary>
internal sealed class OwnClaim(RoutingIdClaim claim, byte[] id)
{
    public RoutingIdClaim Claim { get; } = claim;

    /// <summary>The id in UTF-8.</summary>
    public byte[] Id { get; } = id;

    /// <summary>The claim's token; 0 until it is granted.</summary>
    public long Token { get; set; }

    /// <summary>Whether the session has given it up, possibly before it was granted.</summary>
    public bool IsReleased { get; set; }
}
