using System.Buffers.Binary;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using Xunit;

namespace FastPort.Tests.Support;

/// <summary>A peer that is nothing but a socket: sends any bytes, reads frames, sees how the connection ends.</summary>
internal sealed class RawPeer : IDisposable
{
    private readonly Socket _socket;
    private SslStream? _tls;
    private byte[] _unread = [];

    private RawPeer(Socket socket) => _socket = socket;

    public IPEndPoint LocalEndPoint => (IPEndPoint)_socket.LocalEndPoint!;

    /// <param name="endpoint">Where to connect to.</param>
    /// <param name="receiveBuffer">
    /// Size of the kernel's receive buffer; small where the peer shall not read. 0 leaves it to the kernel.
    /// </param>
    public static async Task<RawPeer> ConnectAsync(Endpoint endpoint, int receiveBuffer = 0)
    {
        EndPoint address = endpoint.Scheme == "unix"
            ? new UnixDomainSocketEndPoint(endpoint.Host.StartsWith('@') ? '\0' + endpoint.Host[1..] : endpoint.Host)
            : new IPEndPoint(IPAddress.Parse(endpoint.Host), endpoint.Port);
        var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
        if (receiveBuffer != 0)
        {
            socket.ReceiveBufferSize = receiveBuffer;
        }

        await socket.ConnectAsync(address, Patience.Token);
        if (address is IPEndPoint)
        {
            socket.NoDelay = true;
        }

        return new RawPeer(socket);
    }

    /// <summary>The runtime's TLS over the same socket, which accepts any certificate. The handshake is the caller's.</summary>
    public SslStream OverTls() => new(new NetworkStream(_socket), leaveInnerStreamOpen: true, static (_, shown, _, _) => shown is not null);

    /// <summary>Everything sent and read from now on is encrypted.</summary>
    public async Task EncryptAsync()
    {
        _tls = OverTls();
        await _tls.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = "localhost" }, Patience.Token);
    }

    public async Task SendAsync(params byte[][] parts)
    {
        ReadOnlyMemory<byte> rest = parts.SelectMany(static p => p).ToArray();
        if (_tls is not null)
        {
            await _tls.WriteAsync(rest, Patience.Token);
            return;
        }

        while (!rest.IsEmpty)
        {
            rest = rest[await _socket.SendAsync(rest, SocketFlags.None, Patience.Token)..];
        }
    }

    /// <summary>Sends and tolerates that the other side has reset the connection already.</summary>
    public async Task TrySendAsync(byte[] bytes)
    {
        try
        {
            await SendAsync(bytes);
        }
        catch (SocketException)
        {
            // What a hostile peer must expect.
        }
    }

    /// <summary>The next frame; null where the stream ended in order.</summary>
    public async Task<WireFrame?> ReadAsync()
    {
        if (!await FillAsync(4))
        {
            Assert.True(_unread.Length == 0, $"The stream ended with {_unread.Length} bytes of a length field.");
            return null;
        }

        int length = checked((int)BinaryPrimitives.ReadUInt32LittleEndian(_unread));
        Assert.True(length >= 8, $"The server sent a length of {length}.");
        Assert.True(await FillAsync(4 + length), $"The stream ended after {_unread.Length} of {4 + length} bytes of a frame.");
        byte[] bytes = _unread[..(4 + length)];
        _unread = _unread[(4 + length)..];
        byte flags = bytes[6];
        int head = 12;
        ulong received = 0, sent = 0;
        if ((flags & (Wire.Reply | Wire.Timing)) == (Wire.Reply | Wire.Timing))
        {
            received = BinaryPrimitives.ReadUInt64LittleEndian(bytes.AsSpan(12));
            sent = BinaryPrimitives.ReadUInt64LittleEndian(bytes.AsSpan(20));
            head = 28;
        }

        return new WireFrame(
            BinaryPrimitives.ReadUInt16LittleEndian(bytes.AsSpan(4)), flags, bytes[7],
            BinaryPrimitives.ReadUInt32LittleEndian(bytes.AsSpan(8)), received, sent, bytes[head..]);
    }

    /// <summary>Exactly so many bytes, whatever they are.</summary>
    public async Task<byte[]> ReadBytesAsync(int count)
    {
        Assert.True(await FillAsync(count), $"The stream ended after {_unread.Length} of {count} bytes.");
        byte[] bytes = _unread[..count];
        _unread = _unread[count..];
        return bytes;
    }

    /// <summary>Takes so many bytes and forgets them; false where the connection ended before, in order or by a reset.</summary>
    public async Task<bool> TryReadBytesAsync(int count)
    {
        try
        {
            if (!await FillAsync(count))
            {
                return false;
            }
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.ConnectionReset or SocketError.Shutdown)
        {
            return false;
        }

        _unread = _unread[count..];
        return true;
    }

    public async Task<WireFrame> ReadFrameAsync()
    {
        WireFrame? frame = await ReadAsync();
        Assert.True(frame is not null, "The connection ended where a frame was expected.");
        Assert.Equal(1, frame.Version);
        return frame;
    }

    /// <summary>The stream must end in order (FIN, no reset) without another frame.</summary>
    public async Task ExpectEndAsync() => Assert.Null(await ReadAsync());

    /// <summary>The connection must end, in order or by a reset, without another frame.</summary>
    public async Task ExpectGoneAsync()
    {
        try
        {
            await ExpectEndAsync();
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.ConnectionReset or SocketError.Shutdown)
        {
            // Reset: gone as well.
        }
    }

    /// <summary>One request, one reply: everything sent before has been looked at by the server.</summary>
    public async Task PingAsync(uint correlation = 0x7000_0001)
    {
        await SendAsync(Wire.PingRequest(correlation));
        WireFrame reply = await ReadFrameAsync();
        Assert.Equal((Wire.Ping, Wire.Reply, correlation), (reply.Type, reply.Flags, reply.Correlation));
    }

    public async Task<WireFrame> CallAsync(byte[] request)
    {
        await SendAsync(request);
        return await ReadFrameAsync();
    }

    public async Task SayHelloAsync(string routingId = "", string token = "")
    {
        WireFrame welcome = await CallAsync(Wire.HelloRequest(0x7000_0000, routingId, token));
        Assert.Equal((Wire.Hello, Wire.Reply), (welcome.Type, welcome.Flags));
    }

    public void ShutdownSend() => _socket.Shutdown(SocketShutdown.Send);

    /// <summary>Ends the connection with a reset.</summary>
    public void Reset()
    {
        _socket.LingerState = new LingerOption(enable: true, seconds: 0);
        _socket.Dispose();
    }

    public void Dispose() => _socket.Dispose();

    private async Task<bool> FillAsync(int count)
    {
        byte[] buffer = new byte[64 * 1024];
        using var given = new MemoryStream();
        given.Write(_unread);
        while (given.Length < count)
        {
            int read = _tls is not null
                ? await _tls.ReadAsync(buffer, Patience.Token)
                : await _socket.ReceiveAsync(buffer, SocketFlags.None, Patience.Token);
            if (read == 0)
            {
                break;
            }

            given.Write(buffer, 0, read);
        }

        _unread = given.ToArray();
        return _unread.Length >= count;
    }
}
