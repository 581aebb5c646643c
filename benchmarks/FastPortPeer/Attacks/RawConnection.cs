using FastPort;
using System.Buffers.Binary;
using System.Net.Sockets;

namespace FastPortPeer.Attacks;

/// <summary>A blocking socket of a peer that keeps to no rules: it sends any bytes, and reads only where it is told to.</summary>
internal sealed class RawConnection : IDisposable
{
    private const int HeaderBytes = 12;
    private const byte Reply = 1;
    private const byte Error = 2;
    private const byte OneWay = 4;

    private readonly Socket _socket;

    /// <exception cref="PeerException">Nobody listens there.</exception>
    public RawConnection(string endpoint)
    {
        var address = Endpoint.Parse(endpoint);
        _socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            _socket.Connect(address.Host, address.Port);
        }
        catch (SocketException exception)
        {
            throw new PeerException($"{endpoint} cannot be connected to: {exception.Message}", exception);
        }
    }

    /// <summary>A frame.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body.</param>
    /// <param name="correlation">Number of a request; 0 for a one-way message.</param>
    public static byte[] Frame(ushort type, ReadOnlySpan<byte> body, uint correlation = 0)
    {
        byte[] frame = new byte[HeaderBytes + body.Length];
        BinaryPrimitives.WriteInt32LittleEndian(frame, frame.Length - 4);
        BinaryPrimitives.WriteUInt16LittleEndian(frame.AsSpan(4), type);
        frame[6] = correlation == 0 ? OneWay : (byte)0;
        frame[7] = 1;
        BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(8), correlation);
        body.CopyTo(frame.AsSpan(HeaderBytes));
        return frame;
    }

    /// <summary>An error that answers no request: field 1 is its code, field 2 its text.</summary>
    /// <param name="code">The code, below 128.</param>
    /// <param name="utf8">The text.</param>
    public static byte[] ErrorFrame(byte code, ReadOnlySpan<byte> utf8)
    {
        byte[] frame = Frame(0, [0x08, code, 0x12, .. Varint((uint)utf8.Length), .. utf8]);
        frame[6] = Reply | Error;
        return frame;
    }

    /// <summary>Field 1 of a body: a text of at most 16,383 bytes.</summary>
    public static byte[] Text(ReadOnlySpan<byte> utf8) => [0x0A, (byte)(utf8.Length | 0x80), (byte)(utf8.Length >> 7), .. utf8];

    public void Send(ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            bytes = bytes[_socket.Send(bytes)..];
        }
    }

    /// <summary>Reads one frame and forgets it.</summary>
    public void SkipFrame()
    {
        byte[] head = new byte[4];
        Read(head);
        Read(new byte[BinaryPrimitives.ReadInt32LittleEndian(head)]);
    }

    /// <summary>Says that no more will come, and waits until the server has read it all and has ended the connection too.</summary>
    public void Leave()
    {
        _socket.Shutdown(SocketShutdown.Send);
        Span<byte> answer = stackalloc byte[256];
        while (_socket.Receive(answer) != 0)
        {
            // Whatever it says.
        }
    }

    public void Dispose() => _socket.Dispose();

    private static byte[] Varint(uint value) => value < 0x80 ? [(byte)value] : [(byte)(value | 0x80), .. Varint(value >> 7)];

    private void Read(Span<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            int read = _socket.Receive(bytes);
            bytes = read == 0 ? throw new PeerException("The server has ended the connection.") : bytes[read..];
        }
    }
}
