namespace GameServer;

/// <summary>Message types of the game; types of applications begin at 0x1000.</summary>
internal static class GameMessageType
{
    public const ushort Join = 0x1000;

    public const ushort Input = 0x1001;

    public const ushort Snapshot = 0x1002;
}
