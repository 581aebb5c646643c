using FastPort.WebSockets;

namespace FastPort.Framing;

/// <summary>FastPort's frames on WebSockets. docs/websocket.md has the table of close codes.</summary>
internal static class FrameWebSocket
{
    public static WebSocketProtocol Protocol { get; } = new("fastport.v1", CloseCode);

    private static ushort CloseCode(CloseReason reason) => reason.GetErrorCode() switch
    {
        ErrorCode.ShuttingDown => WebSocketCloseCodes.GoingAway,
        ErrorCode.None => reason.Kind == CloseKind.ProtocolError ? WebSocketCloseCodes.Violation : WebSocketCloseCodes.Normal,
        var code => (ushort)(WebSocketCloseCodes.FirstOfPrograms + Math.Min((uint)code, 999)),
    };
}
