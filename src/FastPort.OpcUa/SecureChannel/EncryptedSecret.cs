using System.Buffers.Binary;
using System.Security.Cryptography;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>A password as it is sent: with the server's nonce, encrypted with the server's key (OPC 10000-4, 7.41.2.2).</summary>
internal static class EncryptedSecret
{
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
    /// <param name="encrypted">What was sent. No block of it is decrypted if there are more than the longest secret needs.</param>
    /// <param name="nonce">The server's last nonce.</param>
    /// <param name="maxBytes">The longest secret.</param>
    /// <param name="secret">The secret.</param>
    public static bool TryDecrypt(
        SecurityPolicy policy, RSA server, ReadOnlySpan<byte> encrypted, ReadOnlySpan<byte> nonce, int maxBytes, out byte[] secret)
    {
        secret = [];
        int block = server.KeySize / 8;
        int perBlock = block - policy.EncryptionOverheadBytes;
        int maxBlocks = (sizeof(uint) + maxBytes + nonce.Length + perBlock - 1) / perBlock;
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

        int secretLength = length - sizeof(uint) - nonce.Length;
        bool isValid = secretLength >= 0 && secretLength <= maxBytes
            && BinaryPrimitives.ReadUInt32LittleEndian(plain) == (uint)(secretLength + nonce.Length)
            && CryptographicOperations.FixedTimeEquals(plain.AsSpan(sizeof(uint) + secretLength, nonce.Length), nonce);
        secret = isValid ? plain[sizeof(uint)..(sizeof(uint) + secretLength)] : [];
        CryptographicOperations.ZeroMemory(plain);
        return isValid;
    }
}
