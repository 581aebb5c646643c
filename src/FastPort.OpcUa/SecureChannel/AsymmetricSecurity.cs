using System.Buffers.Binary;
using System.Security.Cryptography;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// Protects OpenSecureChannel messages with certificates: always signed and encrypted, in every mode (OPC 10000-6, 6.7.4). Does not own the
/// keys.
/// </summary>
/// <param name="policy">The security policy, not None.</param>
/// <param name="own">This side's private key.</param>
/// <param name="peer">The peer's public key.</param>
internal sealed class AsymmetricSecurity(SecurityPolicy policy, RSA own, RSA peer) : ChunkSecurity
{
    private const int LargeKeyBytes = 256;

    private readonly int _signatureBytes = own.KeySize / 8;
    private readonly int _peerSignatureBytes = peer.KeySize / 8;

    // Sent messages are encrypted with the peer's key, received messages with this application's key.
    private readonly int _sendBlock = peer.KeySize / 8;
    private readonly int _receiveBlock = own.KeySize / 8;

    public override int MaxBodyBytes(int chunkBytes, int clearBytes) =>
        ((chunkBytes - clearBytes) / _sendBlock * Plain(_sendBlock)) - SequenceHeaderBytes - _signatureBytes - SizeBytes(_sendBlock);

    public override int ChunkBytes(int clearBytes, int bodyBytes)
    {
        int content = SequenceHeaderBytes + bodyBytes + SizeBytes(_sendBlock) + _signatureBytes;
        return clearBytes + ((content + Plain(_sendBlock) - 1) / Plain(_sendBlock) * _sendBlock);
    }

    public override void Protect(
        ReadOnlySpan<byte> clear, uint sequenceNumber, uint requestId, ReadOnlySpan<byte> body, ArraySegment<byte> segment)
    {
        Span<byte> chunk = segment;
        int blocks = (chunk.Length - clear.Length) / _sendBlock;
        byte[] signed = new byte[clear.Length + (blocks * Plain(_sendBlock))];
        clear.CopyTo(signed);
        Span<byte> content = signed.AsSpan(clear.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(content, sequenceNumber);
        BinaryPrimitives.WriteUInt32LittleEndian(content[sizeof(uint)..], requestId);
        body.CopyTo(content[SequenceHeaderBytes..]);

        // The low byte of the size, the padding, and the high byte if the key is large.
        Span<byte> padding = content[(SequenceHeaderBytes + body.Length)..^_signatureBytes];
        int size = padding.Length - SizeBytes(_sendBlock);
        padding.Fill((byte)size);
        if (SizeBytes(_sendBlock) == 2)
        {
            padding[^1] = (byte)(size >> 8);
        }

        own.SignData(
            signed.AsSpan(..^_signatureBytes), content[^_signatureBytes..], HashAlgorithmName.SHA256, policy.Signature);
        clear.CopyTo(chunk);
        for (int i = 0; i < blocks; i++)
        {
            peer.Encrypt(
                content.Slice(i * Plain(_sendBlock), Plain(_sendBlock)),
                chunk.Slice(clear.Length + (i * _sendBlock), _sendBlock),
                policy.Encryption);
        }
    }

    public override bool TryUnprotect(ReadOnlySpan<byte> chunk, int clearBytes, MessageBuffer scratch, out ReadOnlySpan<byte> content)
    {
        content = default;
        ReadOnlySpan<byte> cipher = chunk[clearBytes..];
        if (cipher.IsEmpty || cipher.Length % _receiveBlock != 0)
        {
            return false;
        }

        scratch.Write(chunk[..clearBytes]);
        try
        {
            for (; !cipher.IsEmpty; cipher = cipher[_receiveBlock..])
            {
                int plain = own.Decrypt(cipher[.._receiveBlock], scratch.GetSpan(_receiveBlock), policy.Encryption);
                scratch.Advance(plain);
            }
        }
        catch (CryptographicException)
        {
            return false;
        }

        ReadOnlySpan<byte> signed = scratch.Written;
        if (signed.Length < clearBytes + SequenceHeaderBytes + SizeBytes(_receiveBlock) + _peerSignatureBytes
            || !peer.VerifyData(
                signed[..^_peerSignatureBytes], signed[^_peerSignatureBytes..], HashAlgorithmName.SHA256, policy.Signature))
        {
            return false;
        }

        content = signed[clearBytes..^_peerSignatureBytes];
        return TryRemovePadding(ref content);
    }

    private int Plain(int block) => block - policy.EncryptionOverheadBytes;

    // The padding's size has a second byte where the receiver's key has more than 2,048 bits.
    private static int SizeBytes(int block) => block > LargeKeyBytes ? 2 : 1;

    private bool TryRemovePadding(ref ReadOnlySpan<byte> content)
    {
        int sizeBytes = SizeBytes(_receiveBlock);
        int size = sizeBytes == 2 ? (content[^1] << 8) | content[^2] : content[^1];
        int all = size + sizeBytes;
        if (all + SequenceHeaderBytes > content.Length)
        {
            return false;
        }

        ReadOnlySpan<byte> padding = content.Slice(content.Length - all, size + 1);
        if (padding.ContainsAnyExcept((byte)size))
        {
            return false;
        }

        content = content[..^all];
        return true;
    }
}
