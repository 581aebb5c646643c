using BenchmarkDotNet.Attributes;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Protocol;
using Google.Protobuf;

namespace FastPort.Benchmarks.Codecs;

/// <summary>
/// An Echo message of Protocol Buffers encoded into the send ring and decoded from the receive ring, against copying the payload.
/// </summary>
public class EchoCodecBenchmarks
{
    private readonly ArrayPoolCircularBuffer _ring = new(16384);
    private byte[] _payload = [];
    private byte[] _copy = [];
    private byte[] _encoded = [];
    private Echo _message = new();

    [Params(64, 1024, 8192)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _payload = new byte[Bytes];
        _copy = new byte[Bytes];
        Random.Shared.NextBytes(_payload);
        _message = new Echo { Payload = ByteString.CopyFrom(_payload) };
        _encoded = _message.ToByteArray();
    }

    [GlobalCleanup]
    public void Cleanup() => _ring.Dispose();

    [Benchmark(Baseline = true)]
    public byte[] Payload_copied()
    {
        _payload.AsSpan().CopyTo(_copy);
        return _copy;
    }

    /// <summary>As a typed reply is sent: header and body into the ring, nothing between.</summary>
    [Benchmark]
    public int Encode_into_the_ring()
    {
        var body = new ProtobufBody(_message);
        FrameWriter.Write(_ring, DiagnosticType.Echo, FrameFlags.Reply, correlation: 1, received: 0, ref body, body.Size);
        int length = _ring.Length;
        _ring.Consume(length);
        return length;
    }

    [Benchmark]
    public byte[] Encode_to_an_array() => _message.ToByteArray();

    /// <summary>As a typed handler receives it: from the ring's span; message and payload are new objects.</summary>
    [Benchmark]
    public Echo Decode() => Echo.Parser.ParseFrom(_encoded.AsSpan());
}
