using FastPort.Sessions;

namespace FastPort.Redis.Directory;

/// <summary>
/// A routing id of this node. Several of its sessions may have claims: one that is about to take over the id, and earlier ones.
/// <see cref="ClaimDirectory"/> changes it under its lock.
/// </summary>
internal sealed class OwnId(byte[] utf8)
{
    /// <summary>The id in UTF-8.</summary>
    public byte[] Utf8 { get; } = utf8;

    /// <summary>The token of the newest claim that was granted; 0 before the first, and after another node has taken over the id.</summary>
    public long Token { get; set; }

    /// <summary>The claims that were granted and not released.</summary>
    public List<RoutingIdClaim> Granted { get; } = new(1);

    /// <summary>Number of claims whose answers are due.</summary>
    public int Asked { get; set; }

    /// <summary>Whether a claim whose answer is due may already be lost: taken over, or forgotten by Redis.</summary>
    public bool MayBeTakenOver { get; set; }

    /// <summary>Whether no session of this node has or wants the id: it is not in the table.</summary>
    public bool IsGone { get; set; }
}
