using System.Buffers;
using System.Security.Cryptography;
using FastPort.OpcUa.SecureChannel;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

/// <summary>What one side protects the other reads, for every length of a body; what was changed on the way is refused.</summary>
public sealed class ChunkSecurityTests
{
    private const int ClearBytes = 16;

    // Keys take long to make.
    private static readonly Dictionary<int, (RSA A, RSA B)> Keys = new()
    {
        [2048] = (RSA.Create(2048), RSA.Create(2048)),
        [3072] = (RSA.Create(3072), RSA.Create(2048)),
    };

    [Theory]
    [InlineData(MessageSecurityMode.Sign, 32)]
    [InlineData(MessageSecurityMode.SignAndEncrypt, 32)]
    [InlineData(MessageSecurityMode.SignAndEncrypt, 16)]
    public void Symmetric_chunks_of_every_length(MessageSecurityMode mode, int encryptionKeyBytes)
    {
        var (client, server) = Pair(mode, encryptionKeyBytes);
        for (int length = 0; length < 600; length++)
        {
            AssertSurvives(client, server, length);
            AssertSurvives(server, client, length);
        }
    }

    [Theory]
    [InlineData("Basic256Sha256", 2048)]
    [InlineData("Basic256Sha256", 3072)]
    [InlineData("Aes128_Sha256_RsaOaep", 2048)]
    [InlineData("Aes256_Sha256_RsaPss", 2048)]
    [InlineData("Aes256_Sha256_RsaPss", 3072)]
    public void Asymmetric_chunks_of_every_padding(string policy, int bits)
    {
        SecurityPolicy found = SecurityPolicy.Find(SecurityPolicy.Prefix + policy)!;
        var (a, b) = Keys[bits];
        var client = new AsymmetricSecurity(found, a, b);
        var server = new AsymmetricSecurity(found, b, a);

        // Two blocks of the larger key, in steps that meet every size of the padding.
        for (int length = 0; length < 700; length += 7)
        {
            AssertSurvives(client, server, length);
            AssertSurvives(server, client, length);
        }
    }

    [Theory]
    [InlineData(MessageSecurityMode.Sign)]
    [InlineData(MessageSecurityMode.SignAndEncrypt)]
    public void A_changed_byte_anywhere_is_refused(MessageSecurityMode mode)
    {
        var (client, server) = Pair(mode, 32);
        byte[] chunk = Protect(client, [1, 2, 3, 4, 5]);
        for (int i = 0; i < chunk.Length; i++)
        {
            chunk[i] ^= 0x40;
            Assert.False(TryUnprotect(server, chunk, out _));
            chunk[i] ^= 0x40;
        }

        Assert.True(TryUnprotect(server, chunk, out _));
    }

    [Fact]
    public void A_chunk_that_is_too_short_or_no_whole_block_is_refused()
    {
        var (client, server) = Pair(MessageSecurityMode.SignAndEncrypt, 32);
        byte[] chunk = Protect(client, new byte[100]);
        for (int length = ClearBytes; length < chunk.Length; length++)
        {
            Assert.False(TryUnprotect(server, chunk[..length], out _));
        }
    }

    [Fact]
    public void A_padding_longer_than_the_content_is_refused()
    {
        // Signed by the right key, so only the padding is wrong.
        var keys = ChannelKeys.Derive([1], [2], 32);
        using Aes aes = Aes.Create();
        aes.Key = keys.Encrypting;
        using var server = new SymmetricSecurity(MessageSecurityMode.SignAndEncrypt, keys, keys);
        byte[] chunk = new byte[ClearBytes + 48];
        chunk[ClearBytes + 15] = 200;
        HMACSHA256.HashData(keys.Signing, chunk.AsSpan(..^32), chunk.AsSpan(^32..));
        aes.EncryptCbc(chunk.AsSpan(ClearBytes), keys.InitializationVector, chunk.AsSpan(ClearBytes), PaddingMode.None);

        Assert.False(TryUnprotect(server, chunk, out _));
    }

    [Theory]
    [InlineData(MessageSecurityMode.Sign)]
    [InlineData(MessageSecurityMode.SignAndEncrypt)]
    public void The_longest_body_fills_a_chunk_and_no_longer_one_fits(MessageSecurityMode mode)
    {
        var (client, _) = Pair(mode, 32);
        foreach (int chunkBytes in Enumerable.Range(8192, 40))
        {
            int longest = client.MaxBodyBytes(chunkBytes, ClearBytes);
            Assert.InRange(client.ChunkBytes(ClearBytes, longest), chunkBytes - 15, chunkBytes);
            Assert.True(client.ChunkBytes(ClearBytes, longest + 1) > chunkBytes);
        }
    }

    private static (SymmetricSecurity Client, SymmetricSecurity Server) Pair(MessageSecurityMode mode, int encryptionKeyBytes)
    {
        var client = ChannelKeys.Derive([1, 2], [3, 4], encryptionKeyBytes);
        var server = ChannelKeys.Derive([3, 4], [1, 2], encryptionKeyBytes);
        return (new SymmetricSecurity(mode, client, server), new SymmetricSecurity(mode, server, client));
    }

    private static byte[] Protect(ChunkSecurity security, byte[] body)
    {
        byte[] clear = new byte[ClearBytes];
        new Random(body.Length).NextBytes(clear);
        byte[] chunk = new byte[security.ChunkBytes(ClearBytes, body.Length)];
        security.Protect(clear, 7, 9, body, chunk);
        return chunk;
    }

    private static bool TryUnprotect(ChunkSecurity security, byte[] chunk, out byte[] content)
    {
        using var scratch = new MessageBuffer(ArrayPool<byte>.Shared);
        bool isGood = security.TryUnprotect(chunk, ClearBytes, scratch, out ReadOnlySpan<byte> found);
        content = found.ToArray();
        return isGood;
    }

    private static void AssertSurvives(ChunkSecurity sender, ChunkSecurity receiver, int length)
    {
        byte[] body = new byte[length];
        new Random(length).NextBytes(body);
        Assert.True(TryUnprotect(receiver, Protect(sender, body), out byte[] content));
        Assert.Equal([7, 0, 0, 0, 9, 0, 0, 0, .. body], content);
    }
}
