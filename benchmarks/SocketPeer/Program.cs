using System.Net;
using System.Net.Sockets;
using SocketPeer;

if (args is not [] and not ["--spin"] and not ["--websocket"])
{
    Console.Error.WriteLine($"SocketPeer: '{string.Join(' ', args)}': expected nothing, --spin or --websocket.");
    return 2;
}

using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
listener.Listen(1024);
Console.WriteLine($"listening on {(args is ["--websocket"] ? "ws" : "tcp")}://{listener.LocalEndPoint}");
if (args is ["--spin"])
{
    new Thread(() => SpinningEcho.Run(listener)) { IsBackground = true, Name = "echo" }.Start();
}
else if (args is ["--websocket"])
{
    _ = WebSocketServer.RunAsync(listener);
}
else
{
    EventEcho.Start(listener);
}

// Whoever started this process holds the other end of its standard input: when that goes, so does the process.
while (Console.In.Read() >= 0)
{
    // What is written there does not matter.
}

return 0;
