using System.Buffers.Binary;
using System.Net.Sockets;
using System.Text;

namespace FastPortPeer.Nodes;

/// <summary>
/// A session at a Unix socket without an engine: a client of FastPort for each of thousands a second would cost more than the server.
/// </summary>
internal sealed class RawSession : IDisposable
{
    private const ushort Hello = 0x0001;
    private const ushort Echo = 0x0100;
    private const int HeaderBytes = 12;
    private const int LengthBytes = 4;
    private const byte IsError = 2;

    private readonly Socket _socket = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
    private readonly byte[] _buffer = new byte[1024];
    private readonly byte[] _echo = Frame(Echo, [0x0A, 62, .. new byte[62]]);

    /// <summary>Connects and claims a routing id.</summary>
    public async Task OpenAsync(string path, string routingId)
    {
        await _socket.ConnectAsync(new UnixDomainSocketEndPoint(path));
        byte[] id = Encoding.UTF8.GetBytes(routingId);
        await _socket.SendAsync(Frame(Hello, [0x0A, (byte)id.Length, .. id]));
        int received = 0;
        do
        {
            received += Checked(await _socket.ReceiveAsync(_buffer.AsMemory(received)));
        }
        while (!IsWhole(received));
    }

    /// <summary>Sends an echo and blocks until it is back.</summary>
    public void Exchange()
    {
        _socket.Send(_echo);
        int received = 0;
        do
        {
            received += Checked(_socket.Receive(_buffer.AsSpan(received)));
        }
        while (!IsWhole(received));
    }

    public void Dispose() => _socket.Dispose();

    private static byte[] Frame(ushort type, ReadOnlySpan<byte> body)
    {
        byte[] frame = new byte[HeaderBytes + body.Length];
        BinaryPrimitives.WriteInt32LittleEndian(frame, frame.Length - LengthBytes);
        BinaryPrimitives.WriteUInt16LittleEndian(frame.AsSpan(4), type);
        frame[7] = 1;
        BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(8), 1);
        body.CopyTo(frame.AsSpan(HeaderBytes));
        return frame;
    }

    private static int Checked(int bytes) => bytes > 0 ? bytes : throw new PeerException("The server has closed a session.");

    private bool IsWhole(int received)
    {
        if (received < HeaderBytes || received < LengthBytes + BinaryPrimitives.ReadInt32LittleEndian(_buffer))
        {
            return false;
        }

        if ((_buffer[6] & IsError) != 0)
        {
            throw new PeerException($"The server answered: {Encoding.UTF8.GetString(_buffer.AsSpan(HeaderBytes..received))}");
        }

        return true;
    }
}
