using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using Xunit;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>A plain socket with the runtime's TLS.</summary>
internal sealed class TlsSocketEnd : RawEnd
{
    private readonly Socket _socket;
    private readonly SslStream _stream;

    private TlsSocketEnd(Socket socket, SslStream stream)
    {
        _socket = socket;
        _stream = stream;
    }

    // The runtime's stream refuses to read once it has sent its end.
    public override bool ReadsAfterShutdown => false;

    public static async Task<RawEnd> ConnectAsync(TestLink link, bool takesLittle)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        if (takesLittle)
        {
            socket.ReceiveBufferSize = 4096;
        }

        await socket.ConnectAsync(new IPEndPoint(IPAddress.Parse(link.Endpoint.Host), link.Endpoint.Port), Patience.Token);
        var stream = new SslStream(new NetworkStream(socket), leaveInnerStreamOpen: false, static (_, shown, _, _) => shown is not null);
        await stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = "localhost" }, Patience.Token);
        return new TlsSocketEnd(socket, stream);
    }

    public override async Task SendAsync(byte[] bytes)
    {
        await _stream.WriteAsync(bytes, Patience.Token);
        await _stream.FlushAsync(Patience.Token);
    }

    public override async Task<byte[]> ReadAsync(int count)
    {
        byte[] bytes = new byte[count];
        await _stream.ReadExactlyAsync(bytes, Patience.Token);
        return bytes;
    }

    public override async Task ExpectEndAsync() => Assert.Equal(0, await _stream.ReadAsync(new byte[1], Patience.Token));

    public override async Task ExpectGoneAsync()
    {
        try
        {
            await ExpectEndAsync();
        }
        catch (IOException)
        {
            // A reset.
        }
    }

    public override void ShutdownSend()
    {
        _stream.ShutdownAsync().GetAwaiter().GetResult();
        _socket.Shutdown(SocketShutdown.Send);
    }

    public override void Reset()
    {
        _socket.LingerState = new LingerOption(enable: true, seconds: 0);
        _socket.Dispose();
    }

    public override void Dispose() => _stream.Dispose();
}
