using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using System.Text;
using Xunit;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>A plain socket with the runtime's WebSocket.</summary>
internal sealed class WebSocketEnd : RawEnd
{
    private readonly Socket _socket;
    private readonly WebSocket _webSocket;

    private WebSocketEnd(Socket socket, WebSocket webSocket)
    {
        _socket = socket;
        _webSocket = webSocket;
    }

    public static async Task<RawEnd> ConnectAsync(TestLink link, bool takesLittle)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        if (takesLittle)
        {
            socket.ReceiveBufferSize = 4096;
        }

        await socket.ConnectAsync(new IPEndPoint(IPAddress.Parse(link.Endpoint.Host), link.Endpoint.Port), Patience.Token);
        var stream = new NetworkStream(socket);
        await stream.WriteAsync(
            "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"u8.ToArray(),
            Patience.Token);
        await stream.WriteAsync(
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: fastport.v1\r\n\r\n"u8.ToArray(), Patience.Token);
        string answer = string.Empty;
        byte[] one = new byte[1];
        while (!answer.EndsWith("\r\n\r\n", StringComparison.Ordinal))
        {
            await stream.ReadExactlyAsync(one, Patience.Token);
            answer += Encoding.ASCII.GetString(one);
        }

        Assert.StartsWith("HTTP/1.1 101 ", answer, StringComparison.Ordinal);

        // The example of RFC 6455, 1.3.
        Assert.Contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", answer, StringComparison.Ordinal);
        return new WebSocketEnd(socket, WebSocket.CreateFromStream(stream, new WebSocketCreationOptions { SubProtocol = "fastport.v1" }));
    }

    public override Task SendAsync(byte[] bytes) =>
        _webSocket.SendAsync(bytes, WebSocketMessageType.Binary, endOfMessage: true, Patience.Token);

    public override async Task<byte[]> ReadAsync(int count)
    {
        byte[] bytes = new byte[count];
        for (int read = 0; read < count;)
        {
            ValueWebSocketReceiveResult result = await _webSocket.ReceiveAsync(bytes.AsMemory(read), Patience.Token);
            Assert.Equal(WebSocketMessageType.Binary, result.MessageType);
            read += result.Count;
        }

        return bytes;
    }

    public override async Task ExpectEndAsync()
    {
        ValueWebSocketReceiveResult result = await _webSocket.ReceiveAsync(new byte[1].AsMemory(), Patience.Token);
        Assert.Equal(WebSocketMessageType.Close, result.MessageType);
        Assert.Equal(0, await _socket.ReceiveAsync(new byte[1], Patience.Token));
    }

    public override async Task ExpectGoneAsync()
    {
        try
        {
            await ExpectEndAsync();
        }
        catch (Exception e) when (e is WebSocketException or SocketException)
        {
            // A reset.
        }
    }

    public override void ShutdownSend()
    {
        // As with a socket, the second time does nothing.
        if (_webSocket.State is WebSocketState.Open or WebSocketState.CloseReceived)
        {
            _webSocket.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, null, Patience.Token).GetAwaiter().GetResult();
        }

        _socket.Shutdown(SocketShutdown.Send);
    }

    public override void Reset()
    {
        _socket.LingerState = new LingerOption(enable: true, seconds: 0);
        _socket.Dispose();
    }

    public override void Dispose() => _webSocket.Dispose();
}
