using System.Buffers.Binary;
using System.Security.Cryptography;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// Protects chunks with the keys of a token: HMAC-SHA256, and AES-CBC if the mode requires it (OPC 10000-6, 6.7.4). Sending and receiving
/// use different keys and may run at the same time; each by one thread at a time.
/// </summary>
internal sealed class SymmetricSecurity : ChunkSecurity
{
    private const int SignatureBytes = HMACSHA256.HashSizeInBytes;
    private const int BlockBytes = 16;

    private readonly bool _encrypts;
    private readonly ChunkCipher _sending;
    private readonly ChunkCipher _receiving;

    public SymmetricSecurity(MessageSecurityMode mode, ChannelKeys own, ChannelKeys peer)
    {
        _encrypts = mode == MessageSecurityMode.SignAndEncrypt;
        _sending = ChunkCipher.ForSending(own, _encrypts);
        _receiving = ChunkCipher.ForReceiving(peer, _encrypts);
    }

    public override int MaxBodyBytes(int chunkBytes, int clearBytes) => _encrypts
        ? ((chunkBytes - clearBytes) / BlockBytes * BlockBytes) - SequenceHeaderBytes - 1 - SignatureBytes
        : chunkBytes - clearBytes - SequenceHeaderBytes - SignatureBytes;

    public override int ChunkBytes(int clearBytes, int bodyBytes)
    {
        int content = SequenceHeaderBytes + bodyBytes + SignatureBytes;
        return clearBytes + (_encrypts ? (content + 1 + BlockBytes - 1) / BlockBytes * BlockBytes : content);
    }

    public override void Protect(
        ReadOnlySpan<byte> clear, uint sequenceNumber, uint requestId, ReadOnlySpan<byte> body, ArraySegment<byte> segment)
    {
        Span<byte> chunk = segment;
        clear.CopyTo(chunk);
        Span<byte> content = chunk[clear.Length..];
        BinaryPrimitives.WriteUInt32LittleEndian(content, sequenceNumber);
        BinaryPrimitives.WriteUInt32LittleEndian(content[sizeof(uint)..], requestId);
        body.CopyTo(content[SequenceHeaderBytes..]);
        if (_encrypts)
        {
            // The size of the padding, then as many bytes of that value.
            Span<byte> padding = content[(SequenceHeaderBytes + body.Length)..^SignatureBytes];
            padding.Fill((byte)(padding.Length - 1));
        }

        _sending.Sign(chunk[..^SignatureBytes], chunk[^SignatureBytes..]);
        if (_encrypts)
        {
            _sending.Transform(segment[clear.Length..]);
        }
    }

    public override bool TryUnprotect(ReadOnlySpan<byte> chunk, int clearBytes, MessageBuffer scratch, out ReadOnlySpan<byte> content)
    {
        content = default;
        int contentBytes = chunk.Length - clearBytes;
        if (contentBytes < SequenceHeaderBytes + SignatureBytes + (_encrypts ? 1 : 0) || (_encrypts && contentBytes % BlockBytes != 0))
        {
            return false;
        }

        ReadOnlySpan<byte> plain = chunk;
        if (_encrypts)
        {
            scratch.Write(chunk);
            _receiving.Transform(scratch.Segment[clearBytes..]);
            plain = scratch.Written;
        }

        Span<byte> signature = stackalloc byte[SignatureBytes];
        _receiving.Sign(plain[..^SignatureBytes], signature);
        if (!CryptographicOperations.FixedTimeEquals(signature, plain[^SignatureBytes..]))
        {
            return false;
        }

        content = plain[clearBytes..^SignatureBytes];
        return !_encrypts || TryRemovePadding(ref content);
    }

    public override void Dispose()
    {
        _sending.Dispose();
        _receiving.Dispose();
        base.Dispose();
    }

    // Some peers pad more than the block size requires.
    private static bool TryRemovePadding(ref ReadOnlySpan<byte> content)
    {
        int padding = content[^1];
        if (padding + 1 + SequenceHeaderBytes > content.Length || content[^(padding + 1)..].ContainsAnyExcept((byte)padding))
        {
            return false;
        }

        content = content[..^(padding + 1)];
        return true;
    }
}
