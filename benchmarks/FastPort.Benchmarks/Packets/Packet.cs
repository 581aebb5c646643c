using System.Buffers.Binary;
using FastPort.Framing;

namespace FastPort.Benchmarks.Packets;

/// <summary>
/// The usual way, as baseline: an object for every message that owns a copy of its body. Same bytes on the wire as a frame.
/// </summary>
internal sealed class Packet
{
    public Packet(ushort type, uint correlation, ReadOnlySpan<byte> body)
    {
        Type = type;
        Correlation = correlation;
        Body = body.ToArray();
    }

    public ushort Type { get; }

    public uint Correlation { get; }

    public byte[] Body { get; }

    public byte[] ToBytes()
    {
        byte[] bytes = new byte[FrameHeader.Size + Body.Length];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, FrameHeader.MinimumLength + Body.Length);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(4), Type);
        bytes[6] = (byte)FrameFlags.None;
        bytes[7] = FrameHeader.CurrentVersion;
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), Correlation);
        Body.CopyTo(bytes, FrameHeader.Size);
        return bytes;
    }

    /// <summary>Reads every whole packet at the head of what was received.</summary>
    public static List<Packet> ReadAll(ReadOnlySpan<byte> received)
    {
        List<Packet> packets = [];
        while (received.Length >= FrameHeader.Size)
        {
            int length = BinaryPrimitives.ReadInt32LittleEndian(received);
            int size = FrameHeader.LengthFieldSize + length;
            if (length < FrameHeader.MinimumLength || received.Length < size)
            {
                break;
            }

            packets.Add(new Packet(
                BinaryPrimitives.ReadUInt16LittleEndian(received[4..]),
                BinaryPrimitives.ReadUInt32LittleEndian(received[8..]),
                received[FrameHeader.Size..size]));
            received = received[size..];
        }

        return packets;
    }
}
