using System.Buffers.Binary;
using System.Security.Cryptography;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// A password of up to 64 bytes as it is sent: with the server's nonce, encrypted with the server's key (OPC 10000-4, 7.41.2.2, the legacy
/// format). Many clients and servers use it for longer ones, too.
/// </summary>
internal static class EncryptedSecret
{
    /// <summary>The longest password that the standard allows in this format, in bytes.</summary>
    public const int MaxBytes = 64;

    /// <summary>Encrypts a secret.</summary>
    /// <param name="policy">The policy of the user token, not None.</param>
    /// <param name="server">The server's public key.</param>
    /// <param name="secret">The secret.</param>
    /// <param name="nonce">The server's last nonce.</param>
    public static byte[] Encrypt(SecurityPolicy policy, RSA server, ReadOnlySpan<byte> secret, ReadOnlySpan<byte> nonce)
    {
        byte[] plain = new byte[sizeof(uint) + secret.Length + nonce.Length];
        BinaryPrimitives.WriteInt32LittleEndian(plain, secret.Length + nonce.Length);
        secret.CopyTo(plain.AsSpan(sizeof(uint)));
        nonce.CopyTo(plain.AsSpan(sizeof(uint) + secret.Length));
        int block = server.KeySize / 8;
        byte[][] blocks =
            [.. plain.Chunk(block - policy.EncryptionOverheadBytes).Select(part => server.Encrypt(part, policy.Encryption))];
        CryptographicOperations.ZeroMemory(plain);
        return [.. blocks.SelectMany(static part => part)];
    }

    /// <summary>Decrypts a secret. False if it was not encrypted for this key and nonce, or is too long.</summary>
    /// <param name="policy">The policy of the user token, not None.</param>
    /// <param name="server">The server's private key.</param>
    /// <param name="encrypted">
    /// The encrypted bytes. None of its blocks is decrypted if there are more than the longest secret needs.
    /// </param>
    /// <param name="nonce">The server's last nonce.</param>
    /// <param name="maxBytes">The longest secret.</param>
    /// <param name="secret">The secret.</param>
    public static bool TryDecrypt(
        SecurityPolicy policy, RSA server, ReadOnlySpan<byte> encrypted, ReadOnlySpan<byte> nonce, int maxBytes, out byte[] secret)
    {
        secret = [];
        int block = server.KeySize / 8;
        int perBlock = block - policy.EncryptionOverheadBytes;

        // One more than needed if the last block is full: some clients then send one of zeros.
        int maxBlocks = ((sizeof(uint) + maxBytes + nonce.Length) / perBlock) + 1;
        if (encrypted.IsEmpty || encrypted.Length % block != 0 || encrypted.Length / block > maxBlocks)
        {
            return false;
        }

        byte[] plain = new byte[encrypted.Length];
        int length = 0;
        try
        {
            for (; !encrypted.IsEmpty; encrypted = encrypted[block..])
            {
                length += server.Decrypt(encrypted[..block], plain.AsSpan(length), policy.Encryption);
            }
        }
        catch (CryptographicException)
        {
            return false;
        }

        // The length says where the content ends. The padding of the last block must be zeros (OPC 10000-4, 7.41.2.2).
        ReadOnlySpan<byte> content = length < sizeof(uint) ? default : plain.AsSpan(sizeof(uint)..length);
        uint used = length < sizeof(uint) ? uint.MaxValue : BinaryPrimitives.ReadUInt32LittleEndian(plain);
        long secretLength = used - (long)nonce.Length;
        bool isValid = used <= (uint)content.Length && secretLength >= 0 && secretLength <= maxBytes
            && CryptographicOperations.FixedTimeEquals(content[(int)secretLength..(int)used], nonce)
            && !content[(int)used..].ContainsAnyExcept((byte)0);
        secret = isValid ? content[..(int)secretLength].ToArray() : [];
        CryptographicOperations.ZeroMemory(plain);
        return isValid;
    }
}
