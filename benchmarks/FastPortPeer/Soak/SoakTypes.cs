namespace FastPortPeer.Soak;

/// <summary>
/// Message types of the soak beside the diagnostics: a request that names a routing id and a payload, and the one-way message by which it arrives there.
/// </summary>
internal static class SoakTypes
{
    /// <summary>Body: length of the routing id (1 byte), routing id (UTF-8), payload. The empty reply comes when the target's queue has it.</summary>
    public const ushort Relay = 0x1010;

    /// <summary>Body: the payload.</summary>
    public const ushort Relayed = 0x1011;
}
