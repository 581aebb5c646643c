using System.Buffers.Binary;

namespace ServicePeer.Calls;

/// <summary>The bytes of one caller's calls: each call has others, so that a reply can be told from that of another call.</summary>
internal sealed class Payload
{
    private readonly byte[] _bytes;
    private long _number;

    /// <param name="size">Bytes, at least 8.</param>
    /// <param name="caller">The caller's number.</param>
    public Payload(int size, int caller)
    {
        _bytes = new byte[size];
        new Random(caller).NextBytes(_bytes);
        _number = (long)caller << 40;
    }

    /// <summary>The bytes of the next call. Valid until the next one.</summary>
    public byte[] Next()
    {
        BinaryPrimitives.WriteInt64LittleEndian(_bytes, ++_number);
        return _bytes;
    }

    /// <exception cref="PeerException">The reply is not this call's.</exception>
    public void Verify(ReadOnlySpan<byte> reply)
    {
        if (!reply.SequenceEqual(_bytes))
        {
            throw new PeerException(
                $"The reply to call {_number & 0xFF_FFFF_FFFF} of caller {_number >> 40} has other bytes than the call.");
        }
    }
}
