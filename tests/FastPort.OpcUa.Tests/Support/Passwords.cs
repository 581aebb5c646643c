using System.Buffers.Binary;
using System.Security.Cryptography;
using FastPort.OpcUa.SecureChannel;

namespace FastPort.OpcUa.Tests.Support;

/// <summary>Passwords as other stacks encrypt them, made without the code under test.</summary>
internal static class Passwords
{
    /// <summary>
    /// The legacy format (OPC 10000-4, 7.41.2.2), filled up to whole blocks as open62541 and the OPC Foundation's stack do.
    /// </summary>
    /// <param name="policy">Names the algorithm.</param>
    /// <param name="key">The server's key.</param>
    /// <param name="password">The password.</param>
    /// <param name="nonce">The server's nonce.</param>
    /// <param name="fill">What it is filled up with; the standard wants zeros.</param>
    public static byte[] Padded(
        SecurityPolicy policy, RSA key, ReadOnlySpan<byte> password, ReadOnlySpan<byte> nonce, params byte[] fill)
    {
        int block = (key.KeySize / 8) - policy.EncryptionOverheadBytes;
        byte[] content = [.. BitConverter.GetBytes(password.Length + nonce.Length), .. password, .. nonce, .. fill];

        // One more block where the content ends with one, as the OPC Foundation's stack has it.
        byte[] plain = new byte[((content.Length / block) + 1) * block];
        content.CopyTo(plain, 0);
        return [.. plain.Chunk(block).SelectMany(part => key.Encrypt(part, policy.Encryption))];
    }

    /// <summary>An RsaEncryptedSecret (OPC 10000-4, 7.41.2.3 and 7.41.2.4).</summary>
    /// <param name="policy">The policy of the token.</param>
    /// <param name="key">The server's key.</param>
    /// <param name="password">The password.</param>
    /// <param name="nonce">The server's nonce.</param>
    /// <param name="asFoundation">
    /// As the OPC Foundation's stack writes it: one length before the three keys and zeros behind them, and the padding's size in one byte.
    /// </param>
    public static byte[] Secret(
        SecurityPolicy policy, RSA key, ReadOnlySpan<byte> password, ReadOnlySpan<byte> nonce, bool asFoundation)
    {
        byte[] signing = RandomNumberGenerator.GetBytes(32), iv = RandomNumberGenerator.GetBytes(16);
        byte[] encrypting = RandomNumberGenerator.GetBytes(policy.EncryptionKeyBytes);
        byte[] keys = asFoundation
            ? [.. BitConverter.GetBytes(48 + encrypting.Length), .. signing, .. encrypting, .. iv]
            : [.. Bytes(signing), .. Bytes(encrypting), .. Bytes(iv)];
        if (asFoundation)
        {
            Array.Resize(ref keys, (key.KeySize / 8) - policy.EncryptionOverheadBytes);
        }

        byte[] keyData = key.Encrypt(keys, policy.Encryption);
        byte[] content = [.. Bytes(nonce), .. Bytes(password)];
        int sizeBytes = asFoundation ? 1 : 2;
        int padding = (16 - ((content.Length + sizeBytes) % 16)) % 16;
        byte[] payload =
            [.. content, .. Enumerable.Repeat((byte)padding, padding), .. BitConverter.GetBytes((ushort)padding)[..sizeBytes]];
        using var aes = Aes.Create();
        aes.Key = encrypting;
        byte[] body =
        [
            .. Bytes(System.Text.Encoding.UTF8.GetBytes(policy.Uri)),
            .. Bytes(new byte[20]),
            .. BitConverter.GetBytes(DateTime.UtcNow.Ticks - new DateTime(1601, 1, 1).Ticks),
            .. BitConverter.GetBytes((ushort)keyData.Length),
            .. keyData,
            .. aes.EncryptCbc(payload, iv, PaddingMode.None),
        ];

        // The node id i=17545, and that the body is binary.
        byte[] head = [1, 0, 0x89, 0x44, 1, 0, 0, 0, 0];
        BinaryPrimitives.WriteInt32LittleEndian(head.AsSpan(5), body.Length + 32);
        byte[] signed = [.. head, .. body];
        return [.. signed, .. HMACSHA256.HashData(signing, signed)];
    }

    private static byte[] Bytes(ReadOnlySpan<byte> value) => [.. BitConverter.GetBytes(value.Length), .. value];
}
