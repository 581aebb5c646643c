using System.Security.Cryptography;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// HMAC-SHA256 and AES-CBC with the keys of one direction. Their contexts are created once: creating them for each chunk costs more than
/// the work on a small one. Used by one thread at a time.
/// </summary>
internal sealed class ChunkCipher : IDisposable
{
    private readonly IncrementalHash _hmac;
    private readonly ICryptoTransform? _cbc;

    private ChunkCipher(ChannelKeys keys, ICryptoTransform? cbc) =>
        (_hmac, _cbc) = (IncrementalHash.CreateHMAC(HashAlgorithmName.SHA256, keys.Signing), cbc);

    /// <summary>Signs, and encrypts unless the mode is Sign.</summary>
    public static ChunkCipher ForSending(ChannelKeys keys, bool encrypts)
    {
        using Aes aes = Create(keys);
        return new ChunkCipher(keys, encrypts ? aes.CreateEncryptor() : null);
    }

    /// <summary>Verifies, and decrypts unless the mode is Sign.</summary>
    public static ChunkCipher ForReceiving(ChannelKeys keys, bool encrypts)
    {
        using Aes aes = Create(keys);
        return new ChunkCipher(keys, encrypts ? aes.CreateDecryptor() : null);
    }

    /// <summary>Computes the signature of a chunk.</summary>
    public void Sign(ReadOnlySpan<byte> bytes, Span<byte> signature)
    {
        _hmac.AppendData(bytes);
        _hmac.GetHashAndReset(signature);
    }

    /// <summary>Encrypts or decrypts whole blocks in place. Each chunk begins with the same vector (OPC 10000-6, 6.7.5).</summary>
    public void Transform(ArraySegment<byte> blocks)
    {
        _cbc!.TransformBlock(blocks.Array!, blocks.Offset, blocks.Count, blocks.Array!, blocks.Offset);
        _cbc.TransformFinalBlock([], 0, 0);
    }

    public void Dispose()
    {
        _hmac.Dispose();
        _cbc?.Dispose();
    }

    private static Aes Create(ChannelKeys keys)
    {
        Aes aes = Aes.Create();
        (aes.Mode, aes.Padding, aes.Key, aes.IV) = (CipherMode.CBC, PaddingMode.None, keys.Encrypting, keys.InitializationVector);
        return aes;
    }
}
