using System.Net;
using System.Net.Sockets;
using FastPort.Framing;

namespace FastPort.Core.Tests.Memory;

/// <summary>A plain socket that sends the same requests in bursts and reads the replies.</summary>
internal sealed class RawConnection : IDisposable
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
    {
        NoDelay = true,
        ReceiveTimeout = 30_000,
    };
    private readonly byte[] _buffer = new byte[64 * 1024];

    public RawConnection(int port) => _socket.Connect(IPAddress.Loopback, port);

    public static byte[] Frame(ushort type, byte[] body)
    {
        byte[] frame = new byte[FrameHeader.Size + body.Length];
        new FrameHeader((uint)frame.Length - FrameHeader.LengthFieldSize, type, FrameFlags.None, FrameHeader.CurrentVersion, 1)
            .Write(frame);
        body.CopyTo(frame, FrameHeader.Size);
        return frame;
    }

    /// <summary>Sends the request so many times, in bursts; replies are as long as requests.</summary>
    public void Exchange(byte[] request, int count, int burst)
    {
        byte[] requests = [.. Enumerable.Repeat(request, burst).SelectMany(static r => r)];
        for (int done = 0; done < count; done += burst)
        {
            Send(requests);
            Drop(requests.Length);
        }
    }

    /// <summary>Begins a WebSocket.</summary>
    public void Upgrade()
    {
        Send("GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"u8.ToArray());
        Send("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: fastport.v1\r\n\r\n"u8.ToArray());
        for (int end = 0; end != 4; end = _buffer[0] == "\r\n\r\n"u8[end] ? end + 1 : 0)
        {
            Drop(1);
        }
    }

    /// <summary>Sends one request of at most 125 bytes in a message of a WebSocket, and reads a reply that is as long.</summary>
    public void ExchangeMessage(byte[] request)
    {
        Send([0x82, (byte)(0x80 | request.Length), 0, 0, 0, 0, .. request]);
        Drop(2 + request.Length);
    }

    /// <summary>Reads so many bytes.</summary>
    public void Drop(int count)
    {
        for (int received = 0; received < count;)
        {
            int read = _socket.Receive(_buffer, 0, Math.Min(_buffer.Length, count - received), SocketFlags.None);
            if (read == 0)
            {
                throw new EndOfStreamException();
            }

            received += read;
        }
    }

    /// <summary>Sends one request and reads its reply, of whatever length.</summary>
    public void Ask(byte[] request)
    {
        Send(request);
        _socket.Receive(_buffer, 0, FrameHeader.Size, SocketFlags.Peek);
        Drop((int)FrameHeader.Read(_buffer).FrameSize);
    }

    public void Send(byte[] bytes) => _socket.Send(bytes);

    /// <summary>Ends with a reset instead of an orderly end.</summary>
    public void Reset()
    {
        _socket.LingerState = new LingerOption(enable: true, seconds: 0);
        _socket.Dispose();
    }

    public void Dispose() => _socket.Dispose();
}
