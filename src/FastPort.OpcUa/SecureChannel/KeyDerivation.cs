using System.Security.Cryptography;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>The keys of one direction of a secure channel (OPC 10000-6, 6.7.5).</summary>
/// <param name="Signing">Key of HMAC-SHA256.</param>
/// <param name="Encrypting">Key of AES.</param>
/// <param name="InitializationVector">Of every chunk.</param>
internal sealed record ChannelKeys(byte[] Signing, byte[] Encrypting, byte[] InitializationVector)
{
    private const int SigningKeyBytes = 32;
    private const int BlockBytes = 16;

    /// <summary>Derives keys from the nonces: the secret is the nonce of the receiver, the seed that of the sender.</summary>
    public static ChannelKeys Derive(ReadOnlySpan<byte> secret, ReadOnlySpan<byte> seed, int encryptionKeyBytes)
    {
        byte[] bytes = KeyDerivation.PSha256(secret, seed, SigningKeyBytes + encryptionKeyBytes + BlockBytes);
        return new ChannelKeys(
            bytes[..SigningKeyBytes], bytes[SigningKeyBytes..^BlockBytes], bytes[^BlockBytes..]);
    }
}

/// <summary>P_SHA256, the pseudo-random function of TLS 1.2 (RFC 5246, section 5).</summary>
internal static class KeyDerivation
{
    public static byte[] PSha256(ReadOnlySpan<byte> secret, ReadOnlySpan<byte> seed, int length)
    {
        byte[] result = new byte[length];
        byte[] chained = new byte[HMACSHA256.HashSizeInBytes + seed.Length];
        Span<byte> a = chained.AsSpan(0, HMACSHA256.HashSizeInBytes);
        seed.CopyTo(chained.AsSpan(a.Length));
        HMACSHA256.HashData(secret, seed, a);
        Span<byte> block = stackalloc byte[HMACSHA256.HashSizeInBytes];
        Span<byte> next = stackalloc byte[HMACSHA256.HashSizeInBytes];
        for (int done = 0; done < length; done += block.Length)
        {
            HMACSHA256.HashData(secret, chained, block);
            block[..Math.Min(block.Length, length - done)].CopyTo(result.AsSpan(done));
            HMACSHA256.HashData(secret, a, next);
            next.CopyTo(a);
        }

        return result;
    }
}
