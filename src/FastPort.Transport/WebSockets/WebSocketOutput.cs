using System.Security.Cryptography;
using FastPort.Connections;
using FastPort.Transports.Layers;

namespace FastPort.WebSockets;

/// <summary>
/// The send side of a WebSocket connection: its pieces are binary messages of one frame. Control frames are written on the loop, between
/// them.
/// </summary>
internal sealed class WebSocketOutput(WebSocketConnection connection, Connection below, ConnectionSettings settings, bool masks)
    : LayerOutput(connection, below, settings)
{
    // Large enough that a header and a mask cost nothing, small enough for the connection below to hold some.
    private const int MaxPayload = 64 * 1024;

    private readonly Connection _below = below;
    private long _written;

    protected override int Wrap(ReadOnlySpan<byte> bytes, out long end)
    {
        bytes = bytes[..Math.Min(bytes.Length, MaxPayload)];
        end = Write(WebSocketOpcode.Binary, bytes);
        return bytes.Length;
    }

    /// <summary>
    /// Writes a frame to the connection below, without a flush. A closing connection accepts no more bytes; it ends, and every writer is
    /// notified.
    /// </summary>
    /// <returns>Where the frame ends among the bytes ever handed to the connection below.</returns>
    public long Write(WebSocketOpcode opcode, ReadOnlySpan<byte> payload)
    {
        uint? mask = masks ? BitConverter.ToUInt32(RandomNumberGenerator.GetBytes(sizeof(uint))) : null;
        Span<byte> header = stackalloc byte[WebSocketHeader.MaxSize];
        header = header[..WebSocketHeader.Write(header, opcode, payload.Length, mask)];
        if (_below.BeginWrite() is not { } ring)
        {
            return Volatile.Read(ref _written);
        }

        try
        {
            ring.Write(header);
            if (mask is { } key)
            {
                Mask(ring, payload, key);
            }
            else
            {
                ring.Write(payload);
            }
        }
        finally
        {
            _below.EndWrite();
        }

        return Interlocked.Add(ref _written, header.Length + payload.Length);
    }

    private static void Mask(ArrayPoolCircularBuffer ring, ReadOnlySpan<byte> payload, uint key)
    {
        while (!payload.IsEmpty)
        {
            Span<byte> room = ring.GetWritableSpan(1);
            int count = Math.Min(room.Length, payload.Length);
            key = WebSocketMask.Copy(payload[..count], room, key);
            ring.Advance(count);
            payload = payload[count..];
        }
    }
}
