using System.Buffers;
using System.Security.Cryptography;
using BenchmarkDotNet.Attributes;
using FastPort.OpcUa;
using FastPort.OpcUa.SecureChannel;

namespace FastPort.Benchmarks.OpcUa;

/// <summary>
/// A chunk signed and encrypted, and verified and decrypted, with the keys of Basic256Sha256, against the bare ciphers of the same bytes.
/// </summary>
public class SecurityBenchmarks
{
    private const int HeaderBytes = 16;
    private const int SignatureBytes = HMACSHA256.HashSizeInBytes;

    private readonly byte[] _clear = new byte[HeaderBytes];
    private readonly MessageBuffer _scratch = new(ArrayPool<byte>.Shared);
    private readonly Aes _aes = Aes.Create();
    private readonly byte[] _signing = RandomNumberGenerator.GetBytes(SignatureBytes);
    private readonly byte[] _iv = RandomNumberGenerator.GetBytes(16);
    private SymmetricSecurity _security = null!;
    private byte[] _body = [];
    private byte[] _chunk = [];
    private byte[] _written = [];

    [Params(80, 2200, 65000)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        var keys = new ChannelKeys(_signing, RandomNumberGenerator.GetBytes(32), _iv);
        _aes.Key = keys.Encrypting;
        _security = new SymmetricSecurity(MessageSecurityMode.SignAndEncrypt, keys, keys);
        _body = RandomNumberGenerator.GetBytes(Bytes);
        _chunk = new byte[_security.ChunkBytes(HeaderBytes, Bytes)];
        _written = new byte[_chunk.Length];
        _security.Protect(_clear, 1, 1, _body, _chunk);
    }

    [GlobalCleanup]
    public void Cleanup()
    {
        _security.Dispose();
        _scratch.Dispose();
        _aes.Dispose();
    }

    [Benchmark]
    public void Protect() => _security.Protect(_clear, 1, 1, _body, _written);

    [Benchmark]
    public bool Unprotect()
    {
        _scratch.Clear(int.MaxValue);
        return _security.TryUnprotect(_chunk, HeaderBytes, _scratch, out _);
    }

    [Benchmark(Baseline = true)]
    public int Bare_sign_and_encrypt()
    {
        Span<byte> content = _written.AsSpan(HeaderBytes);
        HMACSHA256.HashData(_signing, _written.AsSpan(0, _written.Length - SignatureBytes), content[^SignatureBytes..]);
        return _aes.EncryptCbc(content, _iv, content, PaddingMode.None);
    }
}
