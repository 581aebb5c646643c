using System.Buffers;
using System.Buffers.Binary;
using System.Security.Cryptography;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// A password of any length as it is sent: encrypted and signed with separate keys, which are encrypted with the server's key (OPC 10000-4,
/// 7.41.2.3 and 7.41.2.4).
/// </summary>
internal static class RsaEncryptedSecret
{
    private const uint TypeId = 17545;
    private const int SigningKeyBytes = 32;
    private const int BlockBytes = 16;

    // The type, the encoding and the length of what follows.
    private const int HeadBytes = 9;

    /// <summary>Whether bytes have this format, valid or not. No text in UTF-8 begins like that.</summary>
    public static bool IsFormatOf(ReadOnlySpan<byte> sent)
    {
        var decoder = new BinaryDecoder(sent, EncodingLimits.Default);
        return decoder.ReadNodeId() == new NodeId(0, TypeId);
    }

    /// <summary>Encrypts a secret.</summary>
    /// <param name="policy">The policy of the user token, not None.</param>
    /// <param name="server">The server's public key.</param>
    /// <param name="thumbprint">SHA-1 of the server's certificate.</param>
    /// <param name="secret">The secret.</param>
    /// <param name="nonce">The server's last nonce.</param>
    /// <param name="now">The current time.</param>
    public static byte[] Encrypt(
        SecurityPolicy policy, RSA server, byte[] thumbprint, byte[] secret, ReadOnlySpan<byte> nonce, DateTime now)
    {
        byte[] signing = RandomNumberGenerator.GetBytes(SigningKeyBytes);
        byte[] encrypting = RandomNumberGenerator.GetBytes(policy.EncryptionKeyBytes);
        byte[] vector = RandomNumberGenerator.GetBytes(BlockBytes);
        byte[] keys = [.. WithLength(signing), .. WithLength(encrypting), .. WithLength(vector)];
        byte[] keyData = server.Encrypt(keys, policy.Encryption);
        byte[] content = [.. WithLength(nonce), .. WithLength(secret)];
        byte[] payload = new byte[(content.Length + sizeof(ushort) + BlockBytes - 1) / BlockBytes * BlockBytes];
        content.CopyTo(payload, 0);
        int padding = payload.Length - content.Length - sizeof(ushort);
        payload.AsSpan(content.Length, padding).Fill((byte)padding);
        BinaryPrimitives.WriteUInt16LittleEndian(payload.AsSpan(^sizeof(ushort)), (ushort)padding);
        using var aes = Aes.Create();
        aes.Key = encrypting;
        byte[] encrypted = aes.EncryptCbc(payload, vector, PaddingMode.None);
        using var message = new MessageBuffer(ArrayPool<byte>.Shared);
        var encoder = new BinaryEncoder(message);
        encoder.WriteNodeId(new NodeId(0, TypeId));
        encoder.Write((byte)ExtensionObjectEncoding.Binary);
        encoder.Write(0);
        encoder.WriteString(policy.Uri);
        encoder.WriteByteString(thumbprint);
        encoder.WriteDateTime(now);
        encoder.Write((ushort)keyData.Length);
        encoder.WriteBytes(keyData);
        encoder.WriteBytes(encrypted);
        encoder.Complete();
        byte[] sent = [.. message.Written, .. new byte[HMACSHA256.HashSizeInBytes]];
        BinaryPrimitives.WriteInt32LittleEndian(sent.AsSpan(HeadBytes - sizeof(int)), sent.Length - HeadBytes);
        HMACSHA256.HashData(signing, sent.AsSpan(..^HMACSHA256.HashSizeInBytes), sent.AsSpan(^HMACSHA256.HashSizeInBytes..));
        Array.ForEach([signing, encrypting, keys, content, payload], static one => CryptographicOperations.ZeroMemory(one));
        return sent;
    }

    /// <summary>
    /// Decrypts a secret. False if it was not encrypted for this key and nonce, was changed, or is too long. The nonce reveals an old
    /// secret: the time in it is not checked, because clocks differ.
    /// </summary>
    /// <param name="server">The server's private key.</param>
    /// <param name="sent">The sent bytes.</param>
    /// <param name="nonce">The server's last nonce.</param>
    /// <param name="maxBytes">The longest secret.</param>
    /// <param name="secret">The secret.</param>
    public static bool TryDecrypt(RSA server, ReadOnlySpan<byte> sent, ReadOnlySpan<byte> nonce, int maxBytes, out byte[] secret)
    {
        secret = [];
        var decoder = new BinaryDecoder(sent, EncodingLimits.Default);
        decoder.ReadNodeId();
        byte encoding = decoder.Read<byte>();
        bool isWhole = decoder.Read<int>() == decoder.Left;
        SecurityPolicy? policy = SecurityPolicy.Find(decoder.ReadString());
        decoder.ReadByteString();
        decoder.ReadDateTime();
        int keyBytes = decoder.Read<ushort>();
        int bodyBytes = decoder.Left - keyBytes - HMACSHA256.HashSizeInBytes;
        if (!decoder.Error.IsGood || encoding != (byte)ExtensionObjectEncoding.Binary || !isWhole || policy is not { IsNone: false }
            || keyBytes != server.KeySize / 8 || bodyBytes <= 0 || bodyBytes % BlockBytes != 0
            || TryDecryptKeys(policy, server, decoder.Rest[..keyBytes]) is not { } keys)
        {
            return false;
        }

        Span<byte> signature = stackalloc byte[HMACSHA256.HashSizeInBytes];
        HMACSHA256.HashData(keys.Signing, sent[..^signature.Length], signature);
        if (!CryptographicOperations.FixedTimeEquals(signature, sent[^signature.Length..]))
        {
            return false;
        }

        using var aes = Aes.Create();
        aes.Key = keys.Encrypting;
        byte[] payload = aes.DecryptCbc(decoder.Rest.Slice(keyBytes, bodyBytes), keys.InitializationVector, PaddingMode.None);

        // The client has created all signed bytes: its padding of the last block does not matter.
        var content = new BinaryDecoder(payload.AsSpan(), EncodingLimits.Default);
        bool isCurrent = CryptographicOperations.FixedTimeEquals(content.ReadByteString().Span, nonce);
        ByteString found = content.ReadByteString();
        bool isValid = content.Error.IsGood && isCurrent && found.Length <= maxBytes;
        secret = isValid ? found.ToArray() ?? [] : [];
        CryptographicOperations.ZeroMemory(payload);
        return isValid;
    }

    // Each has its length before it. The OPC Foundation's stack has one length before all three and zeros behind them.
    private static ChannelKeys? TryDecryptKeys(SecurityPolicy policy, RSA server, ReadOnlySpan<byte> encrypted)
    {
        byte[] plain;
        try
        {
            plain = server.Decrypt(encrypted.ToArray(), policy.Encryption);
        }
        catch (CryptographicException)
        {
            return null;
        }

        int all = SigningKeyBytes + policy.EncryptionKeyBytes + BlockBytes;
        var decoder = new BinaryDecoder(plain.AsSpan(), EncodingLimits.Default);
        ByteString first = decoder.ReadByteString();
        ChannelKeys keys = first.Length == all
            ? new ChannelKeys(
                first.Span[..SigningKeyBytes].ToArray(),
                first.Span[SigningKeyBytes..^BlockBytes].ToArray(),
                first.Span[^BlockBytes..].ToArray())
            : new ChannelKeys(
                first.ToArray() ?? [], decoder.ReadByteString().ToArray() ?? [], decoder.ReadByteString().ToArray() ?? []);
        CryptographicOperations.ZeroMemory(plain);
        return decoder.Error.IsGood && keys.Signing.Length == SigningKeyBytes && keys.Encrypting.Length == policy.EncryptionKeyBytes
            && keys.InitializationVector.Length == BlockBytes ? keys : null;
    }

    private static byte[] WithLength(ReadOnlySpan<byte> value)
    {
        byte[] all = new byte[sizeof(int) + value.Length];
        BinaryPrimitives.WriteInt32LittleEndian(all, value.Length);
        value.CopyTo(all.AsSpan(sizeof(int)));
        return all;
    }
}
