using BenchmarkDotNet.Attributes;
using FastPort.Connections;
using FastPort.Framing;

namespace FastPort.Benchmarks.Packets;

/// <summary>One message of 64 B put into the send ring: through an object and its bytes, or straight.</summary>
public class FrameWriteBenchmarks
{
    private const ushort Type = 0x1000;

    private readonly byte[] _body = new byte[64];
    private readonly ArrayPoolCircularBuffer _ring = new();
    private uint _correlation;

    [GlobalSetup]
    public void Setup() => Random.Shared.NextBytes(_body);

    [GlobalCleanup]
    public void Cleanup() => _ring.Dispose();

    /// <summary>The object alone, which the published figure is about.</summary>
    [Benchmark]
    public object Packet_made() => new Packet(Type, ++_correlation, _body);

    [Benchmark(Baseline = true)]
    public int Packet_written()
    {
        var packet = new Packet(Type, ++_correlation, _body);
        _ring.Write(packet.ToBytes());
        int length = _ring.Length;
        _ring.Consume(length);
        return length;
    }

    [Benchmark]
    public int Frame_written_in_place()
    {
        var body = new RawBody(_body);
        FrameWriter.Write(_ring, Type, FrameFlags.None, ++_correlation, received: 0, ref body, body.Size);
        int length = _ring.Length;
        _ring.Consume(length);
        return length;
    }
}
