namespace FastPort.WebSockets;

/// <summary>Close codes of WebSocket (RFC 6455, 7.4).</summary>
internal static class WebSocketCloseCodes
{
    public const ushort Normal = 1000;
    public const ushort GoingAway = 1001;
    public const ushort Violation = 1002;
    public const ushort Unsupported = 1003;
    public const ushort InvalidData = 1007;
    public const ushort Internal = 1011;

    /// <summary>Codes of a program's own begin here (RFC 6455, 7.4.2).</summary>
    public const ushort FirstOfPrograms = 4000;

    /// <summary>Whether a Close frame may have this code: 1004 to 1006 and 1015 stand for what was not sent.</summary>
    public static bool MayBeSent(ushort code) => code is (>= 1000 and <= 1003) or (>= 1007 and <= 1014) or (>= 3000 and <= 4999);
}
