using System.Net.WebSockets;
using Microsoft.AspNetCore.Http;

namespace KestrelPeer;

/// <summary>Echoes FastPort frames in the messages of a WebSocket.</summary>
internal static class WebSocketHandler
{
    public static async Task RunAsync(HttpContext context)
    {
        if (!context.WebSockets.IsWebSocketRequest)
        {
            context.Response.StatusCode = StatusCodes.Status426UpgradeRequired;
            return;
        }

        using WebSocket socket = await context.WebSockets.AcceptWebSocketAsync(WebSocketEcho.SubProtocol);
        await WebSocketEcho.RunAsync(socket);
    }
}
